/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocked time of each pair of stacks. Stacks are compared by the names of their functions, which are printed:
 * addresses differ from process to process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "bpf/offwaketime.h"

struct pair_thread {
	uint32_t pid, tid;    /* 0: unknown, or of several threads */
	char comm[COMM_SIZE]; /* empty: unknown */
};

/*
 * Has no padding: equal pairs have equal bytes. The numbers of the names follow in the order of an event's addresses.
 */
struct pair {
	struct pair_thread target, waker;
	uint16_t depth[NUM_STACKS];
	uint32_t names[]; /* see naming.h */
};

struct pair_total {
	uint64_t ns, count, max_ns;
	uint64_t open; /* of the count: they started before recording, or had not ended when it ended */
	const struct pair *pair;
};

/* At first all zero, except max. */
struct pairs {
	uint64_t max;
	struct intern keys; /* each a struct pair */
	struct pair_total *totals;
	size_t cap;
	uint64_t next_merge; /* earliest time of the next merge, in ms of the clock */
	unsigned num_merges; /* each changes the numbers of pairs */
};

/* The number of names before those of a stack. */
static inline size_t pair_names(const struct pair *pair, int stack)
{
	size_t n = 0;

	for (int i = 0; i < stack; i++)
		n += pair->depth[i];
	return n;
}

static inline size_t pair_size(const struct pair *pair)
{
	return sizeof(*pair) + pair_names(pair, NUM_STACKS) * sizeof(*pair->names);
}

/*
 * The number of this pair, an index into totals. When there are max pairs already, threads that have ended lose their
 * ids, so that pairs of equal names merge. MAP_NONE: there is still no room.
 */
uint32_t pairs_add(struct pairs *p, const struct pair *pair);

/*
 * The totals that are not 0, the shortest time first; *n: their number. The caller frees the array; it is valid until
 * the next pair is added.
 */
const struct pair_total **pairs_sorted(const struct pairs *p, size_t *n);

/* Sets all totals to 0. The numbers of pairs stay valid. */
void pairs_reset(struct pairs *p);

void pairs_free(struct pairs *p);
