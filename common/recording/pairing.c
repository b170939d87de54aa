/* SPDX-License-Identifier: BSD-3-Clause */
#include "pairing.h"

#include <stdlib.h>

#include "clock.h"
#include "match.h"
#include "mem.h"
#include "minmax.h"
#include "out.h"
#include "table.h"

enum {
	/* with follow: how many of the qpairs that were added last may get owners */
	RECENT = 4096,
	/* milliseconds without a line, after which all lines of one moment have come */
	QUIET_MS = 20,
	/* milliseconds between two searches for owners while lines keep coming */
	BUSY_MS = 200,
	/* milliseconds until usdt-record sees the description of a host that has connected */
	DESCRIBED_MS = 200,
};

#define UNKNOWN UINT64_MAX

/* An address. */
struct pairing_place {
	struct qpair *living; /* the last one of those that live; NULL: none */
	bool without_add;     /* in a file: the connect of a qpair that was not added has been counted */
};

/* Drops the addresses at which no qpair lives. */
static void forget_addresses(struct pairing *p)
{
	size_t n = 0;

	map_free(&p->addresses);
	for (size_t i = 0; i < p->num_places; i++)
		if (p->places[i].living) {
			p->places[n] = p->places[i];
			*map_put(&p->addresses, p->places[n].living->address) = n;
			n++;
		}
	p->num_places = n;
	p->max_places = 2 * n + RECENT;
}

static struct pairing_place *place_of(struct pairing *p, uint64_t address)
{
	if (p->follow && p->num_places >= p->max_places)
		forget_addresses(p);
	return table_put(&p->addresses, address, p->places, p->num_places, p->cap_places);
}

static void change(struct pairing *p, struct qpair *q)
{
	if (q->changed)
		return;
	mem_add(p->changed, p->num_changed, p->cap_changed, q);
	q->changed = true;
}

/* The last connect of those that live at one address applies to all that were added before it. */
static void share_connect(struct qpair *last)
{
	for (struct qpair *q = last; q && q->before; q = q->before) {
		q->before->unreliable = true;
		if (!q->connect)
			continue;
		qpair_connect_drop(q->before->connect);
		q->before->connect = qpair_connect_share(q->connect);
	}
}

/* Ends those that live at the address. */
static void end(struct pairing *p, struct pairing_place *place, uint64_t tsc, bool removed)
{
	share_connect(place->living);
	for (struct qpair *q = place->living; q; q = q->before) {
		q->end = tsc;
		q->ended = true;
		q->removed = removed;
		change(p, q);
	}
	place->living = NULL;
}

/* With follow: ends a qpair whose removal is missing; another one has its address or owner from then on. */
static void end_before(struct pairing *p, struct pairing_place *place, uint64_t tsc)
{
	uint64_t begin = place->living->begin;

	end(p, place, tsc > begin ? tsc - 1 : begin, false);
}

static void add(struct pairing *p, struct pairing_place *place, const struct qpair_event *e)
{
	struct qpair *q = mem_array(1, sizeof(*q));

	if (place->living && p->follow)
		end_before(p, place, e->tsc);
	*q = (struct qpair){
		.begin = e->tsc,
		.address = e->qpair,
		.thread = e->thread,
		.line = e->line,
		.owner = UNKNOWN,
		.before = place->living,
		.came = p->came,
	};
	*place = (struct pairing_place){.living = q};
	mem_add(p->all, p->n, p->cap, q);
	p->adds++;
	p->unmatched++;
	change(p, q);
}

/* q: the qpair that was connected; NULL: not known. */
static void connect(struct pairing *p, struct pairing_place *place, struct qpair *q, struct qpair_connect *c)
{
	bool same = q && q->connect && qpair_same_host(q->connect, c);

	if (q && (!q->connect || !p->follow)) {
		q->unreliable |= q->connect && !same;
		qpair_connect_drop(q->connect);
		q->connect = c;
		q->came = p->came;
		change(p, q);
		return;
	}
	if (q && !same)
		end_before(p, place, c->tsc);
	if (!same) {
		p->without_add += !place->without_add;
		place->without_add = !p->follow;
		if (c->tsc > p->last_without_add)
			p->last_without_add = c->tsc;
	}
	qpair_connect_drop(c);
}

static void add_event(struct pairing *p, const struct qpair_event *e)
{
	struct pairing_place *place = place_of(p, e->qpair);
	struct qpair *q = place->living;

	/* a late line, about an earlier qpair at the address */
	if (e->probe != ADD && q && e->tsc < q->begin)
		q = NULL;
	switch (e->probe) {
	case ADD:
		add(p, place, e);
		break;
	case CONNECT:
		connect(p, place, q, e->connect);
		break;
	case REMOVE:
		if (q)
			end(p, place, e->tsc, true);
		place->without_add = false;
	}
}

void pairing_add(struct pairing *p, struct events *events)
{
	uint64_t now = clock_ms();
	bool any = events->n > 0;

	for (size_t i = p->owners.n; i-- > 0 && !p->owners.all[i].came; any = true)
		p->owners.all[i].came = now;
	if (any) {
		p->came = now;
		p->due = p->owners.n || p->owners.num_sources;
	}
	events_sort(events);
	for (size_t i = 0; i < events->n; i++)
		add_event(p, &events->all[i]);
	events->n = 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct qpair *x = *(struct qpair *const *)a, *y = *(struct qpair *const *)b;

	return ORDER(x->begin, y->begin) ?: ORDER(x->line, y->line);
}

/*
 * Whether another owner may still get a description that shows that the connection is its own. The
 * lines of the qpair would then be those of two qpairs; see may_be_two().
 */
static bool may_be_described(const struct owners *owners, const struct match_qpair *m, uint64_t now)
{
	for (size_t i = registry_before(owners, m->begin); i < owners->num_tcp && owners->tcp[i]->tsc <= m->connect;
	     i++) {
		const struct owner *owner = owners->tcp[i];

		if (!owner->assigned && !owner->subnqn.n && now - owner->came < DESCRIBED_MS)
			return true;
	}
	return false;
}

/* Whether the qpair has no owner, but may have one in the trace. */
static bool lacks_owner(const struct pairing *p, const struct qpair *q)
{
	return q->owner == UNKNOWN && registry_possible(&p->owners, q->begin);
}

static enum pairing_reason reason(const struct pairing *p, const struct qpair *q, const struct match_qpair *m)
{
	if (q->unreliable)
		return PAIRING_INCOMPLETE;
	if (m->unreliable)
		return PAIRING_UNRELIABLE;
	if (m->ambiguous)
		return PAIRING_AMBIGUOUS;
	return m->from < p->owners.whole_since ? PAIRING_REPLACED : PAIRING_UNREGISTERED;
}

/* Matches these qpairs with owners. Those about which more lines may come get theirs next time. */
static void match(struct pairing *p, struct qpair **qpairs, size_t n, bool all_here, bool last)
{
	bool lossy = p->without_add && (!p->follow || p->last_without_add >= qpairs[0]->begin);
	struct match_qpair *matches = mem_array(n, sizeof(*matches));

	/* one that is unreliable is matched as well, so that its owner is no candidate of others */
	for (size_t i = 0; i < n; i++)
		matches[i] = match_start(qpairs[i]);
	match_owners(&p->owners, matches, n, lossy);
	for (size_t i = 0; i < n; i++) {
		const struct match_qpair *m = &matches[i];
		struct qpair *q = qpairs[i];

		free((char *)m->subnqn.p);
		if (q->owner != UNKNOWN)
			continue;
		if (!m->owner || m->unreliable || q->unreliable || (p->follow && !m->connected)) {
			p->without[reason(p, q, m)] += lacks_owner(p, q);
		} else if (last || ((all_here || p->matched - q->came >= QUIET_MS) &&
				    !may_be_described(&p->owners, m, p->matched))) {
			q->owner = m->owner->id;
			m->owner->living = q;
			p->named++;
			change(p, q);
		} else {
			p->due = true;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (matches[i].owner && qpairs[i]->owner == UNKNOWN)
			matches[i].owner->assigned = false;
	free(matches);
}

/* Ends the qpairs whose removals are missing and whose owners are gone. */
static void end_owned(struct pairing *p)
{
	for (size_t i = 0; i < p->owners.n; i++) {
		const struct owner *o = &p->owners.all[i];

		if (o->end == UNKNOWN || !o->living || o->living->ended)
			continue;
		if (p->follow) {
			end_before(p, place_of(p, o->living->address), o->end + 1);
		} else {
			o->living->end = o->end;
			o->living->ended = true;
		}
	}
}

/* Finds owners of the recent qpairs; without follow these are all. */
static void match_recent(struct pairing *p, uint64_t now, bool all_here, bool last)
{
	size_t n = p->follow && p->n > RECENT ? RECENT : p->n;
	struct qpair **recent = n ? p->all + (p->n - n) : NULL;
	bool any = false;

	p->due = !all_here;
	p->matched = now;
	p->unmatched = 0;
	registry_merge(&p->owners);
	for (size_t i = 0; i < n; i++)
		any |= recent[i]->owner == UNKNOWN && (recent[i]->connect || !p->follow);
	if (any && p->follow)
		qsort(recent, n, sizeof(struct qpair *), by_begin);
	if (any)
		match(p, recent, n, all_here, last);
	end_owned(p);
}

static struct qpair_connect *connect_of(const struct answers *a, const struct answer *answer)
{
	return qpair_connect_plain(answer->qid, a->names.all[answer->subnqn], a->names.all[answer->hostnqn]);
}

/* Adds a qpair for each owner whose connection an answer names and no probe does. */
static void add_answers(struct pairing *p)
{
	const struct answers *a = p->answers;

	answers_match(p->answers, &p->owners);
	for (size_t i = 0; i < p->owners.num_tcp; i++) {
		const struct owner *o = p->owners.tcp[i];
		struct qpair *q = o->living;

		if (!o->answer || o->contradicted)
			continue;
		if (!q) {
			q = mem_array(1, sizeof(*q));
			*q = (struct qpair){.begin = o->tsc,
					    .end = o->end,
					    .owner = o->id,
					    .unadded = true,
					    .ended = o->end != UNKNOWN};
			mem_add(p->all, p->n, p->cap, q);
			change(p, q);
		}
		if (!q->connect)
			q->connect = connect_of(a, o->answer);
	}
	if (p->num_changed)
		qsort(p->changed, p->num_changed, sizeof(struct qpair *), by_begin);
}

static void free_qpair(struct qpair *q)
{
	qpair_connect_drop(q->connect);
	free(q);
}

/* Drops the qpairs that have ended and the owners whose numbers were reused, except the recent ones. */
static void drop_ended(struct pairing *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->owners.n; i++)
		if (p->owners.all[i].living && p->owners.all[i].living->ended)
			p->owners.all[i].living = NULL;
	for (size_t i = 0; i < p->n; i++) {
		struct qpair *q = p->all[i];

		if (q->ended && i + RECENT < p->n) {
			p->unowned += q->connect && lacks_owner(p, q);
			free_qpair(q);
		} else {
			p->all[n++] = q;
		}
	}
	p->n = n;
	registry_merge(&p->owners);
	registry_forget(&p->owners, RECENT);
	p->max = 2 * (p->n + p->owners.n) + RECENT;
}

int pairing_pause(struct pairing *p, struct out *out, bool last)
{
	uint64_t now = clock_ms(), quiet = now - p->came;
	bool crowded = p->unmatched >= RECENT / 2;

	for (size_t i = 0; last && i < p->num_places; i++)
		share_connect(p->places[i].living);
	if (p->due && (quiet >= QUIET_MS || now - p->matched >= BUSY_MS || crowded || last))
		match_recent(p, now, quiet >= QUIET_MS || crowded, last);
	if (p->answers)
		add_answers(p);
	for (size_t i = 0; last && i < p->n; i++)
		p->unowned += p->all[i]->connect && lacks_owner(p, p->all[i]);
	for (size_t i = 0; i < p->num_changed && !out->error; i++) {
		qpair_write(out, p->changed[i]);
		p->changed[i]->changed = false;
	}
	p->num_changed = 0;
	out_flush(out);
	if (p->follow && p->n + p->owners.n > p->max)
		drop_ended(p);
	if (!p->due)
		return -1;
	return quiet < QUIET_MS ? QUIET_MS - (int)quiet : BUSY_MS;
}

void pairing_free(struct pairing *p)
{
	for (size_t i = 0; i < p->n; i++)
		free_qpair(p->all[i]);
	registry_free(&p->owners);
	map_free(&p->addresses);
	free(p->all);
	free(p->changed);
	free(p->places);
}
