/* SPDX-License-Identifier: BSD-3-Clause */
#include "merge.h"

#include <stdlib.h>

#include "input.h"
#include "mem.h"
#include "minmax.h"
#include "search.h"
#include "trace.h"

enum {
	RELEASE = 1 << 17, /* slots that are released together: 4 MiB */
	PAGE = 128,        /* slots that are not worth a search for holes */
	/*
	 * spdk_trace_record_tsc() writes ticks that were read before other entries were written. The callers in SPDK
	 * write few entries in between.
	 */
	LATE = 64,
};

static void add_run(struct merge *m, unsigned lcore, uint64_t slot, uint64_t end)
{
	mem_add(m->runs, m->num_runs, m->cap,
		(struct merge_run){
			.slot = slot, .end = end, .gap = UINT64_MAX, .later_gap = UINT64_MAX, .lcore = lcore});
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

/* The first slot from this one on that is not in a hole of the file. *until: no other hole starts before that slot. */
static uint64_t skip_hole(const struct merge *m, const struct trace_lcore *lcore, uint64_t slot, uint64_t *until)
{
	size_t data, hole = input_hole(m->in, &lcore->ring[slot], &data);

	*until = slot + (data + sizeof(struct trace_slot) - 1) / sizeof(struct trace_slot);
	return slot + hole / sizeof(struct trace_slot);
}

/* Splits these slots into runs, in their order. An empty slot, as on a page that cannot be read, belongs to no run. */
void merge_add(struct merge *m, unsigned number, uint64_t slot, uint64_t end)
{
	const struct trace_lcore *lcore = &m->trace->lcores[number];
	uint64_t first = slot, last = 0, until = slot + PAGE;

	for (; slot < end; slot++) {
		uint64_t tsc;

		if (slot >= until) {
			uint64_t next = skip_hole(m, lcore, slot, &until);

			if (last && next != slot) {
				add_run(m, number, first, slot);
				last = 0;
			}
			slot = next;
			if (slot >= end)
				break;
		}
		tsc = lcore->ring[slot].tsc;
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

static void add_gap(struct merge_run *run, uint64_t slot)
{
	*(run->gap == UINT64_MAX ? &run->gap : &run->later_gap) = slot;
}

/*
 * Finds where entries are missing in a copy, which was made slot by slot while the application wrote.
 *
 * At the place that the application had reached, the next slot is of the round before: its ticks are lower than all so
 * far, or it is empty. If a later slot has higher ticks than all so far, the application has overtaken the copying,
 * and the slots before that one were copied too early for its round. Where the ticks fall again, the copying
 * has overtaken the application, and the slots before were copied too late:
 *
 *	slot       0 1 2 3 4 5 6 7 8 9
 *	ticks     11 2 3 4 5 16 17 18 9 10    16 and 9 come after missing entries
 */
static void find_gaps(struct merge *m, unsigned number, unsigned first)
{
	const struct trace_lcore *lcore = &m->trace->lcores[number];
	uint64_t since = m->runs[first].slot; /* of the latest such place */
	uint64_t lowest = UINT64_MAX;         /* ticks since then */
	uint64_t highest = 0, before = 0;     /* ticks: of all; when it was overtaken, else 0 */
	uint64_t newest = UINT64_MAX;         /* ticks before the first place */
	bool met = false;

	for (unsigned i = first; i < m->num_runs; i++) {
		struct merge_run *run = &m->runs[i];
		uint64_t start = lcore->ring[run->slot].tsc, last = lcore->ring[run->end - 1].tsc;
		bool falls = start < before || (start < lowest && run->slot - since >= LATE);

		if (falls && (!met || before)) {
			if (met)
				add_gap(run, run->slot);
			else
				newest = highest;
			met = true;
			before = 0;
			since = run->slot;
			lowest = start;
		}
		/* some empty slots may be damage */
		met |= i > first && run->slot - run[-1].end >= LATE;
		lowest = min_u64(start, lowest);
		if (met && !before && last > highest) {
			since = run->slot;
			since += search_first(k, run->end - since, lcore->ring[since + k].tsc > highest);
			add_gap(run, since);
			before = highest;
			lowest = lcore->ring[since].tsc;
		}
		highest = max_u64(last, highest);
	}
	/* the entries before the first slot were in the last one */
	if (m->rings[number].full && lcore->ring[lcore->slots - 1].tsc > newest)
		add_gap(&m->runs[first], 0);
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
	/* pages that cannot be read look as if nothing had been written there */
	if (!m->in->unreadable)
		find_gaps(m, number, first);
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

/* If lost slots are marked here, notes that. Arguments of an entry may look the same, but have its ticks. */
static void read_mark(struct merge *m, struct merge_run *run, const struct trace_lcore *lcore)
{
	const struct trace_slot *slot = &lcore->ring[run->slot];
	uint64_t lost;

	if ((run->slot && slot[-1].tsc == slot->tsc) || memcmp(slot->more_args, TRACE_LOST_TEXT, TRACE_LOST_SIZE) != 0)
		return;
	memcpy(&lost, slot->more_args + TRACE_LOST_SIZE, sizeof(lost));
	if (!lost)
		return;
	m->marked += min_u64(lost, UINT64_MAX - m->marked);
	run->is_marked = true;
}

/*
 * Skips slots that only have arguments of an entry, and those that have become empty because they
 * cannot be read any more. Returns whether another entry is left.
 */
static bool find_entry(struct merge *m, struct merge_run *run, uint64_t *tsc)
{
	const struct trace_lcore *lcore = &m->trace->lcores[run->lcore];

	for (; run->slot < run->end; run->slot++) {
		release(m, lcore, run->slot);
		*tsc = lcore->ring[run->slot].tsc;
		if (*tsc && lcore->ring[run->slot].tpoint != m->trace->num_tpoints)
			return true;
		if (*tsc)
			read_mark(m, run, lcore);
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

bool merge_mark(struct merge *m, unsigned lcore, uint64_t slot, uint64_t n)
{
	uint64_t slots = m->trace->lcores[lcore].slots, tsc;
	struct merge_run *first = NULL;

	for (unsigned i = 0; i < m->num_runs; i++) {
		struct merge_run *run = &m->runs[i];
		uint64_t distance = (run->slot + slots - slot) % slots;

		if (run->lcore == lcore && distance < n && find_entry(m, run, &tsc)) {
			n = distance;
			first = run;
		}
	}
	if (first)
		first->is_marked = true;
	return first;
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
	m->before = m->rings[*lcore].last;
	m->rings[*lcore].last = m->heap[0].tsc;
	if (run->is_marked) {
		run->is_marked = false;
		m->gap = true;
	}
	if (*slot >= run->gap) {
		run->gap = run->later_gap;
		run->later_gap = UINT64_MAX;
		m->gap = true;
	}
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
