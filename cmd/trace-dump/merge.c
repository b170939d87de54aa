/* SPDX-License-Identifier: BSD-3-Clause */
#include "merge.h"

#include <stdlib.h>

#include "input.h"
#include "tracefile.h"

enum { RELEASE = 1 << 17 }; /* slots that are let go together: 4 MiB */

static uint64_t tsc_at(const struct trace_lcore *lcore, uint64_t slot)
{
	return slot_tsc(lcore->ring + TRACE_SLOT * slot);
}

static bool add_run(struct merge *m, unsigned lcore, uint64_t slot, uint64_t end)
{
	if (m->num_runs == m->cap) {
		unsigned cap = m->cap ? 2 * m->cap : 64;
		struct merge_run *runs = reallocarray(m->runs, cap, sizeof(*runs));

		if (!runs)
			return false;
		m->runs = runs;
		m->cap = cap;
	}
	m->runs[m->num_runs++] = (struct merge_run){slot, end, lcore};
	return true;
}

static void reverse(struct merge_run *from, struct merge_run *end)
{
	while (from < end) {
		struct merge_run last = *--end;

		*end = *from;
		*from++ = last;
	}
}

/* Lets go of the slots before this one, so that little of a large file is in memory at once. */
static void release(const struct merge *m, const struct trace_lcore *lcore, uint64_t slot)
{
	if (slot % RELEASE == 0 && slot)
		input_release(m->trace->in, lcore->ring + TRACE_SLOT * (slot - RELEASE),
			      lcore->ring + TRACE_SLOT * slot);
}

/* Cuts these slots into runs, in their order. An empty slot belongs to none. */
static bool add_runs(struct merge *m, unsigned number, uint64_t slot, uint64_t end)
{
	const struct trace_lcore *lcore = &m->trace->lcores[number];
	uint64_t begin = slot, last = 0;

	for (; slot < end; slot++) {
		uint64_t tsc = tsc_at(lcore, slot);

		release(m, lcore, slot);
		if (tsc < last || !last) {
			if (last && !add_run(m, number, begin, slot))
				return false;
			begin = slot;
		}
		last = tsc;
	}
	return !last || add_run(m, number, begin, end);
}

/*
 * Where the oldest slot of a full ring is: where the ticks fall most from one slot to the next, which is
 * from the newest entry to the oldest. The ring's own write position would not do: recordings and copies
 * taken under load have one that does not belong to their slots.
 */
static unsigned oldest_run(const struct merge *m, const struct trace_lcore *lcore, unsigned first)
{
	uint64_t last = tsc_at(lcore, lcore->present - 1), deepest = 0;
	unsigned oldest = first;

	for (unsigned i = first; i < m->num_runs; i++) {
		uint64_t tsc = tsc_at(lcore, m->runs[i].slot);

		if (last > tsc && last - tsc > deepest) {
			deepest = last - tsc;
			oldest = i;
		}
		last = tsc_at(lcore, m->runs[i].end - 1);
	}
	return oldest;
}

static bool add_ring(struct merge *m, unsigned number)
{
	const struct trace_lcore *lcore = &m->trace->lcores[number];
	struct merge_ring *ring = &m->rings[number];
	unsigned first = m->num_runs, oldest;

	if (!add_runs(m, number, 0, lcore->present))
		return false;
	if (m->num_runs == first)
		return true;
	ring->used = m->runs[m->num_runs - 1].end;
	ring->full = ring->used == lcore->slots;
	/* one that is cut off may have been full or not; it says nothing about the others' time */
	if (lcore->present == lcore->slots)
		ring->oldest = tsc_at(lcore, 0);
	if (ring->used < lcore->present)
		return true;
	for (unsigned i = first; i < m->num_runs; i++)
		if (tsc_at(lcore, m->runs[i].slot) < ring->oldest)
			ring->oldest = tsc_at(lcore, m->runs[i].slot);
	/* turns the runs so that the oldest comes first */
	oldest = oldest_run(m, lcore, first);
	reverse(m->runs + first, m->runs + oldest);
	reverse(m->runs + oldest, m->runs + m->num_runs);
	reverse(m->runs + first, m->runs + m->num_runs);
	return true;
}

/* Entries with equal ticks keep the order of lcores, then that of runs, which is the ring's. */
static bool before(const struct merge *m, struct merge_head a, struct merge_head b)
{
	unsigned x, y;

	if (a.tsc != b.tsc)
		return a.tsc < b.tsc;
	x = m->runs[a.run].lcore;
	y = m->runs[b.run].lcore;
	return x < y || (x == y && a.run < b.run);
}

static void sift_down(struct merge *m, unsigned at)
{
	struct merge_head head = m->heap[at];

	for (unsigned child; (child = 2 * at + 1) < m->num_heap; at = child) {
		child += child + 1 < m->num_heap && before(m, m->heap[child + 1], m->heap[child]);
		if (!before(m, m->heap[child], head))
			break;
		m->heap[at] = m->heap[child];
	}
	m->heap[at] = head;
}

/*
 * Steps over slots that only hold arguments of an entry, and over those that have become empty because the
 * file was made shorter. Returns whether another entry is left.
 */
static bool find_entry(const struct merge *m, struct merge_run *run, uint64_t *tsc)
{
	const struct trace_lcore *lcore = &m->trace->lcores[run->lcore];

	for (; run->slot < run->end; run->slot++) {
		release(m, lcore, run->slot);
		*tsc = tsc_at(lcore, run->slot);
		if (*tsc &&
		    slot_tpoint(lcore->ring + TRACE_SLOT * run->slot) != m->trace->num_tpoints)
			return true;
	}
	return false;
}

static bool make_heap(struct merge *m)
{
	struct merge_head *heap = reallocarray(m->heap, m->num_runs + 1, sizeof(*heap));

	if (!heap)
		return false;
	m->heap = heap;
	m->num_heap = 0;
	for (unsigned i = 0; i < m->num_runs; i++) {
		heap[m->num_heap].run = i;
		m->num_heap += find_entry(m, &m->runs[i], &heap[m->num_heap].tsc);
	}
	for (unsigned i = m->num_heap / 2; i-- > 0;)
		sift_down(m, i);
	return true;
}

int merge_open(struct merge *m, const struct trace *t)
{
	bool full = false;

	*m = (struct merge){.trace = t, .rings = calloc(t->num_lcores + 1, sizeof(*m->rings))};
	if (!m->rings)
		return -1;
	for (unsigned i = 0; i < t->num_lcores; i++) {
		if (!add_ring(m, i))
			return -1;
		full |= m->rings[i].full;
		if (m->rings[i].oldest > m->window)
			m->window = m->rings[i].oldest;
	}
	if (!full)
		m->window = 0;
	return make_heap(m) ? 0 : -1;
}

int merge_add(struct merge *m, unsigned lcore, uint64_t slot, uint64_t end)
{
	return add_runs(m, lcore, slot, end) ? 0 : -1;
}

int merge_added(struct merge *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->num_runs; i++)
		if (m->runs[i].slot < m->runs[i].end)
			m->runs[n++] = m->runs[i];
	m->num_runs = n;
	return make_heap(m) ? 0 : -1;
}

uint64_t merge_left(const struct merge *m, unsigned lcore, uint64_t slot)
{
	uint64_t slots = m->trace->lcores[lcore].slots, left = 0;

	for (unsigned i = 0; i < m->num_runs; i++) {
		const struct merge_run *run = &m->runs[i];
		uint64_t distance = (slot + slots - run->slot) % slots;

		/* a run that begins where it ends is a whole ring */
		if (run->lcore == lcore && run->slot < run->end &&
		    (distance ? distance : slots) > left)
			left = distance ? distance : slots;
	}
	return left;
}

bool merge_next(struct merge *m, unsigned *lcore, uint64_t *slot)
{
	struct merge_run *run;

	if (!m->num_heap)
		return false;
	run = &m->runs[m->heap[0].run];
	*lcore = run->lcore;
	*slot = run->slot++;
	if (!find_entry(m, run, &m->heap[0].tsc))
		m->heap[0] = m->heap[--m->num_heap];
	sift_down(m, 0);
	return true;
}

void merge_close(struct merge *m)
{
	free(m->rings);
	free(m->runs);
	free(m->heap);
	*m = (struct merge){};
}
