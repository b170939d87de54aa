/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow.h"

#include <stdlib.h>

#include "clock.h"
#include "match.h"
#include "mem.h"
#include "out.h"

enum {
	/* milliseconds without a line, after which all lines of one moment have come */
	QUIET_MS = 20,
	/* milliseconds between two searches for owners while lines keep coming */
	BUSY_MS = 200,
	/* milliseconds until usdt-record sees the description of a host that has connected */
	DESCRIBED_MS = 200,
};

#define UNKNOWN UINT64_MAX

struct follow_qpair {
	struct qpair lifetime; /* of these events */
	struct qpair_event add, connect, removal;
	bool removed; /* its removal was recorded; otherwise it ends when another one replaces it */
	bool lives, changed;
	struct owner owner; /* its owner, without the description */
	uint64_t came;      /* when the last line about it came */
};

struct follow_owner {
	struct owner owner;          /* first: match_owners() returns a pointer to it */
	bool assigned;               /* to a qpair */
	struct follow_qpair *living; /* the qpair, while it lives */
	uint64_t came;               /* when its first line came */
};

/* Drops the addresses at which no qpair lives. */
static void forget_addresses(struct follow_qpairs *f)
{
	size_t n = 0;

	map_free(&f->addresses);
	for (size_t i = 0; i < f->num_living; i++)
		if (f->living[i]) {
			f->living[n] = f->living[i];
			*map_put(&f->addresses, f->living[n]->add.qpair) = n;
			n++;
		}
	f->num_living = n;
	f->max_living = 2 * n + FOLLOW_RECENT;
}

/* The place in f->living for the address; it holds NULL if no qpair lives there. */
static struct follow_qpair **living_at(struct follow_qpairs *f, uint64_t address)
{
	uint32_t *place;

	if (f->num_living >= f->max_living)
		forget_addresses(f);
	place = map_put(&f->addresses, address);
	if (*place == MAP_NONE) {
		*place = f->num_living;
		f->living = mem_room(f->living, f->num_living, &f->cap_living);
		f->living[f->num_living++] = NULL;
	}
	return &f->living[*place];
}

static void change(struct follow_qpairs *f, struct follow_qpair *q)
{
	if (q->changed)
		return;
	f->changed = mem_room(f->changed, f->num_changed, &f->cap_changed);
	f->changed[f->num_changed++] = q;
	q->changed = true;
}

static void end(struct follow_qpairs *f, struct follow_qpair *q, uint64_t tsc)
{
	*living_at(f, q->add.qpair) = NULL;
	if (q->lifetime.owner && f->owners[q->owner.id]->living == q)
		f->owners[q->owner.id]->living = NULL;
	q->removal.tsc = tsc;
	q->lifetime.end = &q->removal;
	q->lives = false;
	change(f, q);
}

/* Ends a qpair whose removal is missing: another one has its address or owner from then on. */
static void end_before(struct follow_qpairs *f, struct follow_qpair *q, uint64_t tsc)
{
	end(f, q, tsc > q->add.tsc ? tsc - 1 : q->add.tsc);
}

static void add(struct follow_qpairs *f, struct follow_qpair *before, const struct qpair_event *e)
{
	struct follow_qpair *q = mem_array(1, sizeof(*q));

	if (before)
		end_before(f, before, e->tsc);
	*q = (struct follow_qpair){.add = *e, .lives = true, .came = f->came};
	q->lifetime.begin = &q->add;
	*living_at(f, e->qpair) = q;
	f->all = mem_room(f->all, f->n, &f->cap);
	f->all[f->n++] = q;
	f->adds++;
	f->unmatched++;
	change(f, q);
}

/* q: the qpair that lives at the address; NULL: none. Returns whether it stores the event. */
static bool connect(struct follow_qpairs *f, struct follow_qpair *q, const struct qpair_event *e)
{
	if (q && !q->lifetime.connect) {
		q->connect = *e;
		q->lifetime.connect = &q->connect;
		q->came = f->came;
		change(f, q);
		return true;
	}
	if (q && qpair_same_host(&q->connect, e))
		return false;
	if (q)
		end_before(f, q, e->tsc);
	f->without_add++;
	if (e->tsc > f->last_without_add)
		f->last_without_add = e->tsc;
	return false;
}

static void free_owner(struct follow_owner *o)
{
	if (o)
		free(o->owner.description);
	free(o);
}

static void note_arrival(struct follow_qpairs *f)
{
	f->came = clock_ms();
	f->due = f->owners != NULL;
}

void follow_event(struct follow_qpairs *f, struct qpair_event *e)
{
	struct follow_qpair *q = *living_at(f, e->qpair);

	note_arrival(f);
	/* a late line, about an earlier qpair at the address */
	if (e->probe != ADD && q && e->tsc < q->add.tsc)
		q = NULL;
	switch (e->probe) {
	case ADD:
		add(f, q, e);
		break;
	case CONNECT:
		if (!connect(f, q, e))
			qpair_free_names(e);
		break;
	case REMOVE:
		if (q) {
			q->removed = true;
			end(f, q, e->tsc);
		}
	}
}

/* Retains an owner whose number was reused: its qpair may still have to be matched with it. */
static void keep_old(struct follow_qpairs *f, struct follow_owner *o, uint64_t tsc)
{
	if (o->living)
		end_before(f, o->living, tsc);
	if (f->num_old == 2 * FOLLOW_RECENT) {
		f->num_old = FOLLOW_RECENT;
		for (size_t i = 0; i < FOLLOW_RECENT; i++)
			free_owner(f->old[i]);
		memcpy(f->old, f->old + FOLLOW_RECENT, FOLLOW_RECENT * sizeof(*f->old));
	}
	f->old[f->num_old++] = o;
}

void follow_owner(struct follow_qpairs *f, const struct owner *owner)
{
	struct follow_owner *o;

	if (!f->owners) {
		f->owners = mem_array(OWNERS_IDS, sizeof(*f->owners));
		f->old = mem_array(2 * FOLLOW_RECENT, sizeof(*f->old));
	}
	note_arrival(f);
	o = f->owners[owner->id];
	if (o && o->owner.tsc != owner->tsc) {
		keep_old(f, o, owner->tsc);
		o = NULL;
	}
	if (!o) {
		o = f->owners[owner->id] = mem_array(1, sizeof(*o));
		o->came = f->came;
	}
	free(o->owner.description);
	o->owner = *owner;
	owners_parse_description(&o->owner);
}

static int by_registration(const void *a, const void *b)
{
	const struct owner *x = *(struct owner *const *)a, *y = *(struct owner *const *)b;

	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

static int by_begin(const void *a, const void *b)
{
	const struct qpair_event *x = &(*(struct follow_qpair *const *)a)->add;
	const struct qpair_event *y = &(*(struct follow_qpair *const *)b)->add;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Adds an owner for match_owners(), which leaves an assigned one with its qpair. */
static void list_owner(struct owners *owners, struct follow_owner *o)
{
	owners->poll_groups += owners_is_poll_group(&o->owner);
	o->owner.assigned = o->assigned;
	o->owner.thread = UNKNOWN;
	if (o->owner.tcp)
		owners->tcp[owners->num_tcp++] = &o->owner;
}

static void list_owners(const struct follow_qpairs *f, struct owners *owners)
{
	size_t max = OWNERS_IDS + f->num_old;

	*owners = (struct owners){.tcp = mem_array(max, sizeof(*owners->tcp))};
	for (size_t i = 0; i < f->num_old; i++)
		list_owner(owners, f->old[i]);
	for (size_t id = 0; id < OWNERS_IDS; id++)
		if (f->owners[id])
			list_owner(owners, f->owners[id]);
	qsort(owners->tcp, owners->num_tcp, sizeof(*owners->tcp), by_registration);
}

static struct match_qpair to_match(const struct follow_qpair *q)
{
	struct match_qpair m = match_start(&q->add, q->removed ? &q->removal : NULL, q->lifetime.connect);

	/* for match_owners() only its presence counts */
	if (q->lifetime.owner)
		m.owner = &q->owner;
	return m;
}

static void assign(struct follow_qpairs *f, struct follow_qpair *q, const struct owner *owner)
{
	struct follow_owner *o = (struct follow_owner *)owner, *now = f->owners[owner->id];

	q->owner = *owner;
	q->owner.description = NULL;
	q->lifetime.owner = &q->owner;
	o->assigned = true;
	f->named++;
	if (q->lives && o == now)
		o->living = q;
	else if (q->lives)
		end_before(f, q, now->owner.tsc);
	change(f, q);
}

/*
 * Whether another owner may still get a description that shows that the connection is its own. The
 * lines of the qpair would then be those of two qpairs; see may_be_two().
 */
static bool may_be_described(const struct owners *owners, const struct match_qpair *m, uint64_t now)
{
	for (size_t i = owners_before(owners, m->begin); i < owners->num_tcp && owners->tcp[i]->tsc <= m->connect;
	     i++) {
		const struct owner *owner = owners->tcp[i];

		if (!owner->assigned && !owner->subnqn.n &&
		    now - ((const struct follow_owner *)owner)->came < DESCRIBED_MS)
			return true;
	}
	return false;
}

/* Finds owners of the recent qpairs. Those about which more lines may come get theirs next time. */
static void match_recent(struct follow_qpairs *f, uint64_t now, bool all_here, bool last)
{
	size_t n = f->n < FOLLOW_RECENT ? f->n : FOLLOW_RECENT;
	struct follow_qpair **recent = f->all + (f->n - n);
	struct match_qpair *matches;
	struct owners owners;
	bool any = false;

	f->due = !all_here;
	f->matched = now;
	f->unmatched = 0;
	for (size_t i = 0; i < n; i++)
		any |= recent[i]->lifetime.connect && !recent[i]->lifetime.owner;
	if (!any)
		return;
	qsort(recent, n, sizeof(struct follow_qpair *), by_begin);
	matches = mem_array(n, sizeof(*matches));
	for (size_t i = 0; i < n; i++)
		matches[i] = to_match(recent[i]);
	list_owners(f, &owners);
	match_owners(&owners, matches, n, f->without_add && f->last_without_add >= recent[0]->add.tsc);
	for (size_t i = 0; i < n; i++) {
		const struct match_qpair *m = &matches[i];
		struct follow_qpair *q = recent[i];

		free((char *)m->subnqn.p);
		if (!m->owner || m->unreliable || !m->connected || q->lifetime.owner)
			continue;
		if (last || ((all_here || now - q->came >= QUIET_MS) && !may_be_described(&owners, m, now)))
			assign(f, q, m->owner);
		else
			f->due = true;
	}
	free(owners.tcp);
	free(matches);
}

static void free_qpair(struct follow_qpairs *f, struct follow_qpair *q)
{
	f->unowned += q->lifetime.connect && !q->lifetime.owner;
	qpair_free_names(&q->connect);
	free(q);
}

/* Drops the qpairs that have ended, except the recent ones. */
static void drop_ended(struct follow_qpairs *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (f->all[i]->lives || i + FOLLOW_RECENT >= f->n)
			f->all[n++] = f->all[i];
		else
			free_qpair(f, f->all[i]);
	f->n = n;
	f->max = 2 * n + FOLLOW_RECENT;
}

static void write_changed(struct follow_qpairs *f, struct out *out)
{
	for (size_t i = 0; i < f->num_changed && !out->error; i++) {
		qpair_write(out, &f->changed[i]->lifetime);
		f->changed[i]->changed = false;
	}
	f->num_changed = 0;
	out_flush(out);
}

int follow_pause(struct follow_qpairs *f, struct out *out, bool last)
{
	uint64_t now = clock_ms(), quiet = now - f->came;
	bool crowded = f->unmatched >= FOLLOW_RECENT / 2;

	if (f->due && (quiet >= QUIET_MS || now - f->matched >= BUSY_MS || crowded || last))
		match_recent(f, now, quiet >= QUIET_MS || crowded, last);
	write_changed(f, out);
	if (f->n > f->max)
		drop_ended(f);
	if (!f->due)
		return -1;
	return quiet < QUIET_MS ? QUIET_MS - (int)quiet : BUSY_MS;
}

void follow_free(struct follow_qpairs *f)
{
	for (size_t i = 0; i < f->n; i++)
		free_qpair(f, f->all[i]);
	for (size_t id = 0; f->owners && id < OWNERS_IDS; id++)
		free_owner(f->owners[id]);
	for (size_t i = 0; i < f->num_old; i++)
		free_owner(f->old[i]);
	free(f->old);
	map_free(&f->addresses);
	free(f->all);
	free(f->changed);
	free(f->living);
	free(f->owners);
}
