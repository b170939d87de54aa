/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow.h"

#include <err.h>
#include <stdlib.h>

#include "clock.h"
#include "match.h"
#include "out.h"

enum {
	/* milliseconds without a line, after which what happened at one time is here */
	QUIET = 20,
	/* milliseconds between two searches for owners while lines go on coming */
	BUSY = 200,
	/* milliseconds within which usdt-record sees the description of a host that has connected */
	DESCRIBED = 200,
};

#define UNKNOWN UINT64_MAX

struct follow_qpair {
	struct lifetime lifetime; /* of these events */
	struct event add, connect, removal;
	bool removed; /* its removal was recorded; else it ends where something else begins */
	bool lives, changed;
	struct owner owner; /* that it was given, without its description */
	uint64_t came;      /* when the last line about it did */
};

struct follow_owner {
	struct owner owner;          /* first, as match_owners() knows it by that */
	bool given;                  /* to a qpair */
	struct follow_qpair *living; /* this one, while it lives */
	uint64_t came;               /* when its first line did */
};

static void *allocate(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n, size);

	if (!p)
		err(EXIT_FAILURE, NULL);
	return p;
}

/* Adds a qpair to an array, the capacity of which is a power of two. */
static void append(struct follow_qpair ***array, size_t *n, struct follow_qpair *q)
{
	if (!(*n & (*n - 1)))
		*array = allocate(*array, *n ? 2 * *n : 1, sizeof(struct follow_qpair *));
	(*array)[(*n)++] = q;
}

static uint32_t *place_of(struct follow *f, uint64_t address)
{
	uint32_t *place = map_put(&f->addresses, address);

	if (!place)
		err(EXIT_FAILURE, NULL);
	return place;
}

/* Leaves out the addresses at which no qpair lives. */
static void forget_addresses(struct follow *f)
{
	size_t n = 0;

	map_free(&f->addresses);
	for (size_t i = 0; i < f->num_living; i++)
		if (f->living[i]) {
			f->living[n] = f->living[i];
			*place_of(f, f->living[n]->add.qpair) = n;
			n++;
		}
	f->num_living = n;
	f->max_living = 2 * n + FOLLOW_RECENT;
}

/* The place of the qpair that lives at the address, which is NULL when none does. */
static struct follow_qpair **living_at(struct follow *f, uint64_t address)
{
	uint32_t *place;

	if (f->num_living >= f->max_living)
		forget_addresses(f);
	place = place_of(f, address);
	if (*place == MAP_NONE) {
		*place = f->num_living;
		append(&f->living, &f->num_living, NULL);
	}
	return &f->living[*place];
}

static void change(struct follow *f, struct follow_qpair *q)
{
	if (!q->changed)
		append(&f->changed, &f->num_changed, q);
	q->changed = true;
}

static void end(struct follow *f, struct follow_qpair *q, uint64_t tsc)
{
	*living_at(f, q->add.qpair) = NULL;
	if (q->lifetime.owner && f->owners[q->owner.id]->living == q)
		f->owners[q->owner.id]->living = NULL;
	q->removal.tsc = tsc;
	q->lifetime.end = &q->removal;
	q->lives = false;
	change(f, q);
}

/* Ends a qpair whose removal is missing: from these ticks on its address or owner is another one's. */
static void end_before(struct follow *f, struct follow_qpair *q, uint64_t tsc)
{
	end(f, q, tsc > q->add.tsc ? tsc - 1 : q->add.tsc);
}

static void add(struct follow *f, struct follow_qpair *before, const struct event *e)
{
	struct follow_qpair *q = allocate(NULL, 1, sizeof(*q));

	if (before)
		end_before(f, before, e->tsc);
	*q = (struct follow_qpair){.add = *e, .lives = true, .came = f->came};
	q->lifetime.begin = &q->add;
	*living_at(f, e->qpair) = q;
	append(&f->all, &f->n, q);
	f->adds++;
	f->unmatched++;
	change(f, q);
}

/* Returns whether the qpair that lives at the address, NULL when none does, has the event now. */
static bool connect(struct follow *f, struct follow_qpair *q, const struct event *e)
{
	if (q && !q->lifetime.connect) {
		q->connect = *e;
		q->lifetime.connect = &q->connect;
		q->came = f->came;
		change(f, q);
		return true;
	}
	if (q && event_same_host(&q->connect, e))
		return false;
	if (q)
		end_before(f, q, e->tsc);
	f->orphans++;
	if (e->tsc > f->last_orphan)
		f->last_orphan = e->tsc;
	return false;
}

static void free_owner(struct follow_owner *o)
{
	if (o)
		free(o->owner.description);
	free(o);
}

static void note_arrival(struct follow *f)
{
	f->came = clock_ms();
	f->due = f->owners != NULL;
}

void follow_event(struct follow *f, struct event *e)
{
	struct follow_qpair *q = *living_at(f, e->qpair);

	note_arrival(f);
	/* a late line, of one that was at the address before */
	if (e->probe != ADD && q && e->tsc < q->add.tsc)
		q = NULL;
	switch (e->probe) {
	case ADD:
		add(f, q, e);
		break;
	case CONNECT:
		if (!connect(f, q, e))
			event_free(e);
		break;
	case REMOVE:
		if (q) {
			q->removed = true;
			end(f, q, e->tsc);
		}
	}
}

/* Keeps an owner whose number is another one's now: its qpair may be without an owner yet. */
static void keep_old(struct follow *f, struct follow_owner *o, uint64_t tsc)
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

void follow_owner(struct follow *f, const struct owner *owner)
{
	struct follow_owner *o;

	if (!f->owners) {
		f->owners = calloc(OWNERS_IDS, sizeof(*f->owners));
		f->old = allocate(NULL, 2 * FOLLOW_RECENT, sizeof(*f->old));
		if (!f->owners)
			err(EXIT_FAILURE, NULL);
	}
	note_arrival(f);
	o = f->owners[owner->id];
	if (o && o->owner.tsc != owner->tsc) {
		keep_old(f, o, owner->tsc);
		o = NULL;
	}
	if (!o) {
		o = f->owners[owner->id] = allocate(NULL, 1, sizeof(*o));
		*o = (struct follow_owner){.came = f->came};
	}
	free(o->owner.description);
	o->owner = *owner;
	owner_read_description(&o->owner);
}

static int by_registration(const void *a, const void *b)
{
	const struct owner *x = *(struct owner *const *)a, *y = *(struct owner *const *)b;

	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

static int by_begin(const void *a, const void *b)
{
	const struct event *x = &(*(struct follow_qpair *const *)a)->add;
	const struct event *y = &(*(struct follow_qpair *const *)b)->add;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Adds an owner as match_owners() wants it; which qpair has it was decided before. */
static void take_owner(struct owners *owners, struct follow_owner *o)
{
	owners->poll_groups += owner_is_poll_group(&o->owner);
	o->owner.taken = o->given;
	o->owner.thread = UNKNOWN;
	if (o->owner.tcp)
		owners->tcp[owners->num_tcp++] = &o->owner;
}

static void take_owners(const struct follow *f, struct owners *owners)
{
	size_t max = OWNERS_IDS + f->num_old;

	*owners = (struct owners){.tcp = allocate(NULL, max, sizeof(*owners->tcp))};
	for (size_t i = 0; i < f->num_old; i++)
		take_owner(owners, f->old[i]);
	for (size_t id = 0; id < OWNERS_IDS; id++)
		if (f->owners[id])
			take_owner(owners, f->owners[id]);
	qsort(owners->tcp, owners->num_tcp, sizeof(*owners->tcp), by_registration);
}

static struct match_qpair to_match(const struct follow_qpair *q)
{
	struct match_qpair m = {.begin = q->add.tsc, .end = UNKNOWN, .thread = q->add.thread};

	if (q->removed)
		m.end = q->removal.tsc;
	if (q->lifetime.connect) {
		m.connected = true;
		m.connect = q->connect.tsc;
		m.qid = q->connect.qid;
		m.subnqn = event_plain_name(q->connect.subnqn);
	}
	/* it is taken, which is all that matters of it */
	if (q->lifetime.owner)
		m.owner = &q->owner;
	return m;
}

static void give(struct follow *f, struct follow_qpair *q, const struct owner *owner)
{
	struct follow_owner *o = (struct follow_owner *)owner, *now = f->owners[owner->id];

	q->owner = *owner;
	q->owner.description = NULL;
	q->lifetime.owner = &q->owner;
	o->given = true;
	f->named++;
	if (q->lives && o == now)
		o->living = q;
	else if (q->lives)
		end_before(f, q, now->owner.tsc);
	change(f, q);
}

/*
 * Whether the description of another owner may be on its way which says that the host has connected by that one, so
 * that the lines of the qpair are those of two; see may_be_two().
 */
static bool may_be_described(const struct owners *owners, const struct match_qpair *m, uint64_t now)
{
	for (size_t i = owners_before(owners, m->begin);
	     i < owners->num_tcp && owners->tcp[i]->tsc <= m->connect; i++) {
		const struct owner *owner = owners->tcp[i];

		if (!owner->taken && !owner->subnqn.n &&
		    now - ((const struct follow_owner *)owner)->came < DESCRIBED)
			return true;
	}
	return false;
}

/* Looks for owners of the recent qpairs. Those of which more lines may be on their way get theirs the next time. */
static void match_recent(struct follow *f, uint64_t now, bool all_here, bool last)
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
	matches = allocate(NULL, n, sizeof(*matches));
	for (size_t i = 0; i < n; i++)
		matches[i] = to_match(recent[i]);
	take_owners(f, &owners);
	match_owners(&owners, matches, n, f->orphans && f->last_orphan >= recent[0]->add.tsc);
	for (size_t i = 0; i < n; i++) {
		const struct match_qpair *m = &matches[i];
		struct follow_qpair *q = recent[i];

		free((char *)m->subnqn.p);
		if (!m->owner || m->doubtful || !m->connected || q->lifetime.owner)
			continue;
		if (last ||
		    ((all_here || now - q->came >= QUIET) && !may_be_described(&owners, m, now)))
			give(f, q, m->owner);
		else
			f->due = true;
	}
	free(owners.tcp);
	free(matches);
}

static void free_qpair(struct follow *f, struct follow_qpair *q)
{
	f->unowned += q->lifetime.connect && !q->lifetime.owner;
	event_free(&q->connect);
	free(q);
}

/* Forgets the qpairs that have ended but for the recent ones. */
static void forget(struct follow *f)
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

static void write_changed(struct follow *f, struct out *out)
{
	for (size_t i = 0; i < f->num_changed && !out->error; i++) {
		lifetime_write(out, &f->changed[i]->lifetime);
		f->changed[i]->changed = false;
	}
	f->num_changed = 0;
	out_flush(out);
}

int follow_pause(struct follow *f, struct out *out, bool last)
{
	uint64_t now = clock_ms(), quiet = now - f->came;
	bool crowded = f->unmatched >= FOLLOW_RECENT / 2;

	if (f->due && (quiet >= QUIET || now - f->matched >= BUSY || crowded || last))
		match_recent(f, now, quiet >= QUIET || crowded, last);
	write_changed(f, out);
	if (f->n > f->max)
		forget(f);
	if (!f->due)
		return -1;
	return quiet < QUIET ? QUIET - (int)quiet : BUSY;
}

void follow_free(struct follow *f)
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
