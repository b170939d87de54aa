/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All entries of a trace in the order of their ticks, then of lcores, then of their place in the
 * ring.
 *
 * A ring is a few runs of slots with ascending ticks: one when it never wrapped, two when it did,
 * some more if a copy was made under load or an application wrote an entry late. The runs are
 * merged, so nothing is sorted, and memory grows with the number of runs only. An entry costs a
 * read of its ticks in merge_open(), and at most two comparisons in merge_next() while no other run
 * comes first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct trace;

struct merge_ring {
	uint64_t used;   /* slots up to the last one that is not empty */
	uint64_t oldest; /* ticks: the lowest of a full ring, else the first slot's; 0: not known */
	uint64_t last;   /* ticks of the latest entry that merge_next() has returned; 0: none */
	bool full;       /* so it may have lost entries */
};

struct merge {
	const struct trace *trace;
	struct input *in;
	struct merge_ring *rings; /* by index of lcore in the trace */
	uint64_t window;          /* from these ticks on no ring has lost an entry; 0: no ring is full */
	bool gap;                 /* merge_next() has returned an entry after a gap; the caller resets it */
	uint64_t before;          /* ticks of that lcore's entry before it; 0: it has none */
	uint64_t marked;          /* slots that are marked as lost, so far */
	struct merge_run {
		uint64_t slot, end; /* those that merge_next() has not returned yet */
		/* the next two slots after gaps; UINT64_MAX: no more gaps */
		uint64_t gap, later_gap;
		unsigned lcore;
		bool is_marked; /* slots were lost before the next one, by a mark in the file or merge_mark() */
	} * runs;
	struct merge_head {
		uint64_t tsc;
		unsigned run;
	} * heap; /* the next slot of each run, the earliest on top */
	unsigned num_runs, num_heap;
	size_t cap; /* of runs */
};

/* Reads all ticks of the trace, which is in this input. Both must outlive m. */
void merge_open(struct merge *m, const struct trace *t, struct input *in);

/* The next entry's lcore, by its index in the trace, and slot. False at the end. */
bool merge_next(struct merge *m, unsigned *lcore, uint64_t *slot);

/* Whether merge_next() has an entry, and its ticks. */
static inline bool merge_peek(const struct merge *m, uint64_t *tsc)
{
	if (m->num_heap)
		*tsc = m->heap[0].tsc;
	return m->num_heap;
}

/*
 * For a trace that is followed: adds slots with new entries, which come after all that the lcore
 * had. merge_next() returns them after merge_commit().
 */
void merge_add(struct merge *m, unsigned lcore, uint64_t slot, uint64_t end);
void merge_commit(struct merge *m);

/*
 * Marks the first of n slots of an lcore whose entry merge_next() has yet to return: entries before it were lost.
 * Returns false if it has returned all n.
 */
bool merge_mark(struct merge *m, unsigned lcore, uint64_t slot, uint64_t n);

/*
 * The distance from this slot of an lcore back to the oldest one that merge_next() has not returned
 * yet; 0: there is no such slot.
 */
uint64_t merge_pending(const struct merge *m, unsigned lcore, uint64_t slot);

void merge_close(struct merge *m);
