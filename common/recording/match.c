/* SPDX-License-Identifier: BSD-3-Clause */
#include "match.h"

#include <stdlib.h>

#include "map.h"
#include "mem.h"
#include "minmax.h"
#include "probeline.h"
#include "search.h"

#define UNKNOWN UINT64_MAX

/*
 * Ticks from a registration to the addition: usually 30 us, but much longer when the target is
 * preempted in between. This is a third of a second with the fastest clocks, and more with slower
 * ones.
 */
#define WAIT_MAX ((uint64_t)1 << 30)

enum {
	/* a connection is late after this many times the median delay, without and with known losses */
	LATE_TIMES = 8,
	LATE_TIMES_LOSSY = 2,

	/* many more than are ever needed, and few enough for hostile input */
	ROUNDS = 64,           /* of rule 2, forwards and backwards */
	CANDIDATES_MAX = 1024, /* owners examined for a qpair, and qpairs for an owner */

	/* bpftrace keeps at least this many characters of a string */
	PROBE_STRING_MAX = 63,
};

struct matcher {
	const struct owners *owners;
	struct match_qpair *qpairs;
	size_t n;
	uint64_t late; /* ticks from an addition to a connection that is late */
	enum {
		ALL_IN_ORDER,  /* every addition follows a registration */
		SOME_IN_ORDER, /* some qpairs are of other transports */
		NO_ORDER,      /* registrations and additions do not alternate */
	} order;
};

/* The place of the key's number; a new key gets the number *next, which then grows. */
static uint32_t *number_of(struct map *map, uint64_t key, uint32_t *next)
{
	uint32_t *number = map_put(map, key);

	if (*number == MAP_NONE)
		*number = (*next)++;
	return number;
}

/* How many owners were registered at these ticks or before. */
static size_t owners_until(const struct matcher *m, uint64_t tsc)
{
	return tsc == UINT64_MAX ? m->owners->num_tcp : registry_before(m->owners, tsc + 1);
}

static int by_value(const void *a, const void *b)
{
	return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Learns the usual delay of a connection, the median. */
static void learn_times(struct matcher *m, unsigned late_times)
{
	uint64_t *times = mem_array(m->n, sizeof(*times)), usual;
	size_t n = 0;

	for (const struct match_qpair *q = m->qpairs; q < m->qpairs + m->n; q++)
		if (q->connected && q->connect > q->begin)
			times[n++] = q->connect - q->begin;
	qsort(times, n, sizeof(*times), by_value);
	usual = n ? times[n / 2] : 0;
	m->late = usual < UINT64_MAX / late_times ? late_times * usual : UINT64_MAX;
	free(times);
}

static uint64_t earliest(const struct match_qpair *q)
{
	return q->begin > WAIT_MAX ? q->begin - WAIT_MAX : 0;
}

/* Whether an owner was registered in the qpair's window. */
static bool has_window(const struct matcher *m, const struct match_qpair *q)
{
	return owners_until(m, q->begin) > registry_before(m->owners, q->from);
}

/*
 * Rule 1: sets the start of each qpair's window to the last addition by its thread, but not too long
 * ago unless nothing was registered since.
 */
static void set_windows(struct matcher *m)
{
	uint64_t *last = mem_array(m->n, sizeof(*last)); /* addition of each thread */
	uint32_t num_threads = 0;
	struct map threads = {};

	for (struct match_qpair *q = m->qpairs; q < m->qpairs + m->n; q++) {
		uint32_t thread = *number_of(&threads, q->thread, &num_threads);

		q->from = last[thread];
		if (q->from < earliest(q)) {
			q->from = earliest(q);
			if (last[thread] && !has_window(m, q)) {
				q->from = last[thread];
				m->order = SOME_IN_ORDER;
			}
		}
		last[thread] = q->begin;
	}
	map_free(&threads);
	free(last);
}

/*
 * Checks whether registrations and additions alternate: then each TCP qpair has an owner in its
 * window. Qpairs with an empty window may be of another transport, if there are at least as many
 * qpairs as owners and such qpairs together.
 */
static void check_order(struct matcher *m)
{
	size_t empty = 0, n = 0, first = 0, last = 0;

	for (const struct match_qpair *q = m->qpairs; q < m->qpairs + m->n; q++) {
		if (q->from < m->owners->whole_since)
			continue;
		if (!n++)
			first = registry_before(m->owners, q->from);
		last = owners_until(m, q->begin);
		empty += !has_window(m, q);
	}
	if (!empty)
		return;
	m->order = n >= last - first + empty ? SOME_IN_ORDER : NO_ORDER;
	for (size_t i = 0; m->order == NO_ORDER && i < m->n; i++)
		m->qpairs[i].from = earliest(&m->qpairs[i]);
}

/* Whether the names are equal, or one is the start of the other, truncated by SPDK or by the recording. */
static bool same_name(struct slice owner, bool cut, struct slice qpair)
{
	if (cut && owner.n < qpair.n)
		qpair.n = owner.n;
	else if (qpair.n >= PROBE_STRING_MAX && qpair.n < owner.n)
		owner.n = qpair.n;
	return slice_equal(owner, qpair);
}

/* A field that is not known matches any value. */
static bool same_connection(const struct owner *owner, const struct match_qpair *q)
{
	if (!q->connected || !owner->subnqn.n)
		return true;
	return same_name(owner->subnqn, owner->cut, q->subnqn) && (!owner->has_qid || owner->qid == q->qid);
}

static bool fits(const struct owner *owner, const struct match_qpair *q)
{
	return (owner->thread == UNKNOWN || owner->thread == q->thread) && same_connection(owner, q);
}

/* Counts the candidates of a qpair, up to two; one of them is in *found. */
static unsigned count_candidates(const struct matcher *m, const struct match_qpair *q, struct owner **found)
{
	struct owner **tcp = m->owners->tcp;
	unsigned n = 0, seen = 0;

	for (size_t i = owners_until(m, q->begin); i-- > 0 && n < 2 && tcp[i]->tsc >= q->from;) {
		if (++seen > CANDIDATES_MAX)
			return 2;
		if (!tcp[i]->assigned && fits(tcp[i], q)) {
			n++;
			*found = tcp[i];
		}
		/* the last one of this thread, if no other has the same ticks */
		if (m->order != NO_ORDER && tcp[i]->thread == q->thread && tcp[i]->tsc < q->begin &&
		    (!i || tcp[i - 1]->tsc < tcp[i]->tsc))
			break;
	}
	return n;
}

/* Whether the owner is a candidate of another qpair, too. */
static bool is_shared(const struct matcher *m, const struct owner *owner, const struct match_qpair *q)
{
	size_t first = search_first(i, m->n, m->qpairs[i].begin >= owner->tsc);
	unsigned seen = 0;

	for (const struct match_qpair *other = m->qpairs + first;
	     other < m->qpairs + m->n && earliest(other) <= owner->tsc; other++)
		if (++seen > CANDIDATES_MAX ||
		    (other != q && !other->owned && !other->owner && other->from <= owner->tsc && fits(owner, other)))
			return true;
	return false;
}

/* Assigns the qpair's owner if it is certain. Returns whether it did. */
static bool match(const struct matcher *m, struct match_qpair *q)
{
	struct owner *found = NULL;

	if (q->owned || q->owner || q->from < m->owners->whole_since)
		return false;
	switch (count_candidates(m, q, &found)) {
	case 0:
		q->ambiguous = false;
		break;
	case 1:
		q->ambiguous = m->order != ALL_IN_ORDER && is_shared(m, found, q);
		break;
	default:
		q->ambiguous = true;
	}
	if (!found || q->ambiguous)
		return false;
	q->owner = found;
	found->assigned = true;
	return true;
}

/* Rule 2. */
static void match_all(const struct matcher *m)
{
	bool more = true;

	for (int round = 0; more && round < ROUNDS; round++) {
		more = false;
		for (size_t i = 0; i < m->n; i++)
			more |= match(m, &m->qpairs[round % 2 ? m->n - 1 - i : i]);
	}
}

/* Notes that a belongs to b. False when it belongs to another. */
static bool pair(struct map *map, uint64_t a, uint32_t b)
{
	uint32_t next = b;

	return *number_of(map, a, &next) == b;
}

/* Sets the owner's thread if it is not known. Returns whether it did. */
static bool set_thread(struct owner *owner, uint64_t thread)
{
	if (owner->thread != UNKNOWN)
		return false;
	owner->thread = thread;
	return true;
}

/*
 * Rule 3. Returns whether the thread of another owner has become known. When SPDK's scheduler moves
 * threads, an lcore has two threads, or a thread two lcores; then lcores identify no thread.
 */
static bool learn_threads(const struct matcher *m)
{
	const struct owners *o = m->owners;
	struct map numbers = {}, threads = {}, lcores = {};
	uint64_t *thread = mem_array(m->n, sizeof(*thread));
	uint32_t num_threads = 0;
	bool fixed = true, learned = false;

	for (const struct match_qpair *q = m->qpairs; q < m->qpairs + m->n; q++) {
		uint32_t number = *number_of(&numbers, q->thread, &num_threads);

		thread[number] = q->thread;
		if (q->owner && q->owner->lcore != UNKNOWN)
			fixed &= pair(&threads, q->owner->lcore, number) && pair(&lcores, number, q->owner->lcore);
	}
	for (size_t i = 0; i < o->num_tcp; i++)
		fixed &= !o->tcp[i]->moved;
	for (size_t i = 0; i < o->num_tcp; i++) {
		struct owner *owner = o->tcp[i];
		uint32_t number = owner->lcore == UNKNOWN ? MAP_NONE : map_get(&threads, owner->lcore);

		/* a target with one poll group has one thread, on whichever lcore */
		if (num_threads == 1 && o->poll_groups == 1)
			learned |= set_thread(owner, thread[0]);
		else if (fixed && number != MAP_NONE)
			learned |= set_thread(owner, thread[number]);
	}
	map_free(&numbers);
	map_free(&threads);
	map_free(&lcores);
	free(thread);
	return learned;
}

/*
 * Whether the qpair's probe lines may be those of two at one address, with all lines between them
 * lost. This is so if its owner ended too early, or never connected; or if the host connected late,
 * and another owner, which is not assigned, was registered in between: it may be the connection's.
 */
static bool may_be_two(const struct matcher *m, const struct match_qpair *q)
{
	const struct owner *owner = q->owner;
	struct owner **tcp = m->owners->tcp;
	unsigned seen = 0;

	if (q->end != UNKNOWN && owner->end < q->end)
		return true;
	if (!q->connected)
		return false;
	if (!owner->subnqn.n || owner->end < q->connect)
		return true;
	if (q->connect < q->begin || q->connect - q->begin < m->late)
		return false;
	for (size_t i = owners_until(m, q->connect); i-- > 0 && tcp[i]->tsc > q->begin;)
		/* a connection that the target refused never gets a subsystem */
		if (++seen > CANDIDATES_MAX || (!tcp[i]->assigned && tcp[i]->subnqn.n && same_connection(tcp[i], q)))
			return true;
	return false;
}

struct match_qpair match_start(const struct qpair *q)
{
	struct match_qpair m = {
		.begin = q->begin,
		.end = q->removed && !q->unreliable ? q->end : UNKNOWN,
		.thread = q->thread,
		.connected = q->connect && !q->unreliable,
		.owned = q->owner != UNKNOWN,
	};

	if (m.connected) {
		m.connect = q->connect->tsc;
		m.qid = q->connect->qid;
		m.subnqn = probeline_decode(qpair_subnqn(q->connect));
	}
	return m;
}

void match_owners(const struct owners *owners, struct match_qpair *qpairs, size_t n, bool incomplete)
{
	struct matcher m = {.owners = owners, .qpairs = qpairs, .n = n};

	learn_times(&m, incomplete ? LATE_TIMES_LOSSY : LATE_TIMES);
	set_windows(&m);
	check_order(&m);
	/* the addition after a lost one may be of another transport, but would get the lost one's owner */
	if (m.order != ALL_IN_ORDER && incomplete) {
		for (size_t i = 0; i < n; i++)
			qpairs[i].ambiguous = true;
		return;
	}
	do
		match_all(&m);
	while (learn_threads(&m));
	for (size_t i = 0; i < n; i++)
		qpairs[i].unreliable = qpairs[i].owner && may_be_two(&m, &qpairs[i]);
}
