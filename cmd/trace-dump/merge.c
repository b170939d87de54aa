/* SPDX-License-Identifier: BSD-3-Clause */
#include "merge.h"

#include <stdlib.h>

#include "input.h"
#include "mem.h"
#include "trace.h"

enum { RELEASE = 1 << 17 }; /* slots that are released together: 4 MiB */

static void add_run(struct merge *m, unsigned lcore, uint64_t slot, uint64_t end)
{
	m->runs = mem_room(m->runs, m->num_runs, &m->cap);
	m->runs[m->num_runs++] = (struct merge_run){slot, end, lcore};
}

static void reverse(struct merge_run *from, struct merge_run *end)
{
	while (from < end) {
		struct merge_run last = *--end;

		*end = *from;
		*from++ = last;
	}
}

/* Releases the slots before this one, so that little of a large file is in memory at once. */
static void release(const struct merge *m, const struct trace_lcore *lcore, uint64_t slot)
{
	if (slot % RELEASE == 0 && slot)
		input_release(m->in, &lcore->ring[slot - RELEASE], &lcore->ring[slot]);
}

/* Splits these slots into runs, in their order. An empty slot, as on a page that cannot be read, belongs to no run. */
void merge_add(struct merge *m, unsigned number, uint64_t slot, uint64_t end)
{
	const struct trace_lcore *lcore = &m->trace->lcores[number];
	uint64_t first = slot, last = 0;

	for (; slot < end; slot++) {
		uint64_t tsc = lcore->ring[slot].tsc;

		release(m, lcore, slot);
		if (tsc < last || !last) {
			if (last)
				add_run(m, number, first, slot);
			first = slot;
		}
		last = tsc;
	}
	if (last)
		add_run(m, number, first, end);
}

/*
 * Finds the run with the oldest slot of a full ring: before it, the ticks fall most from one slot
 * to the next, from the newest entry to the oldest. The ring's own write position is unreliable: in
 * recordings and in copies made under load, it does not belong to the slots.
 */
static unsigned oldest_run(const struct merge *m, const struct trace_lcore *lcore, unsigned first)
{
	uint64_t last = lcore->ring[m->runs[m->num_runs - 1].end - 1].tsc, deepest = 0;
	unsigned oldest = first;

	for (unsigned i = first; i < m->num_runs; i++) {
		uint64_t tsc = lcore->ring[m->runs[i].slot].tsc;

		if (last > tsc && last - tsc > deepest) {
			deepest = last - tsc;
			oldest = i;
		}
		last = lcore->ring[m->runs[i].end - 1].tsc;
	}
	return oldest;
}

static void add_ring(struct merge *m, unsigned number)
{
	const struct trace_lcore *lcore = &m->trace->lcores[number];
	struct merge_ring *ring = &m->rings[number];
	unsigned first = m->num_runs, oldest;

	merge_add(m, number, 0, lcore->present);
	if (m->num_runs == first)
		return;
	ring->used = m->runs[m->num_runs - 1].end;
	ring->full = ring->used == lcore->slots;
	/* a ring that is cut off may have been full: the ticks of the missing slots are not known */
	if (lcore->present == lcore->slots)
		ring->oldest = lcore->ring[0].tsc;
	if (ring->used < lcore->present)
		return;
	for (unsigned i = first; i < m->num_runs; i++)
		if (lcore->ring[m->runs[i].slot].tsc < ring->oldest)
			ring->oldest = lcore->ring[m->runs[i].slot].tsc;
	/* rotates the runs so that the oldest comes first */
	oldest = oldest_run(m, lcore, first);
	reverse(m->runs + first, m->runs + oldest);
	reverse(m->runs + oldest, m->runs + m->num_runs);
	reverse(m->runs + first, m->runs + m->num_runs);
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
 * Skips slots that only have arguments of an entry, and those that have become empty because they
 * cannot be read any more. Returns whether another entry is left.
 */
static bool find_entry(const struct merge *m, struct merge_run *run, uint64_t *tsc)
{
	const struct trace_lcore *lcore = &m->trace->lcores[run->lcore];

	for (; run->slot < run->end; run->slot++) {
		release(m, lcore, run->slot);
		*tsc = lcore->ring[run->slot].tsc;
		if (*tsc && lcore->ring[run->slot].tpoint != m->trace->num_tpoints)
			return true;
	}
	return false;
}

static void make_heap(struct merge *m)
{
	m->heap = mem_resize(m->heap, m->num_runs + 1, sizeof(*m->heap));
	m->num_heap = 0;
	for (unsigned i = 0; i < m->num_runs; i++) {
		struct merge_head *head = &m->heap[m->num_heap];

		head->run = i;
		m->num_heap += find_entry(m, &m->runs[i], &head->tsc);
	}
	for (unsigned i = m->num_heap / 2; i-- > 0;)
		sift_down(m, i);
}

void merge_open(struct merge *m, const struct trace *t, struct input *in)
{
	bool full = false;

	*m = (struct merge){.trace = t, .in = in};
	m->rings = mem_array(t->num_lcores, sizeof(*m->rings));
	for (unsigned i = 0; i < t->num_lcores; i++) {
		add_ring(m, i);
		full |= m->rings[i].full;
		if (m->rings[i].oldest > m->window)
			m->window = m->rings[i].oldest;
	}
	if (!full)
		m->window = 0;
	make_heap(m);
}

void merge_commit(struct merge *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->num_runs; i++)
		if (m->runs[i].slot < m->runs[i].end)
			m->runs[n++] = m->runs[i];
	m->num_runs = n;
	make_heap(m);
}

uint64_t merge_pending(const struct merge *m, unsigned lcore, uint64_t slot)
{
	uint64_t slots = m->trace->lcores[lcore].slots, most = 0;

	for (unsigned i = 0; i < m->num_runs; i++) {
		const struct merge_run *run = &m->runs[i];
		uint64_t distance = (slot + slots - run->slot) % slots;

		/* a run that starts at this slot fills the ring */
		if (!distance)
			distance = slots;
		if (run->lcore == lcore && run->slot < run->end && distance > most)
			most = distance;
	}
	return most;
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
