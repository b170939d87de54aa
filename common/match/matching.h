/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds which queue of an initiator is which queue of a target, and which command is which request.
 *
 * A connection keeps the order of its commands. So three commands in a row that a queue of an initiator has once, and
 * a queue of a target as well, are an anchor: anchors say which queues belong together. What is between two anchors
 * belongs together in its order, if it is as much on both sides, of the same types, addresses and lengths. The offset
 * between two clocks follows from that, and contradicts queues that do not belong together.
 *
 * Queues without anchors belong together where the clocks allow a single one of all ways.
 */
#pragma once

#include "offset.h"
#include "out.h"
#include "side.h"

struct matching {
	struct side *sides;
	size_t n;
	bool same_clock;        /* all processes count the same ticks */
	struct offset *offsets; /* of each initiator and target: n * n */

	/* commands by what became of them; those of queues that no target here has are foreign */
	uint64_t commands, matched, foreign, outside, ambiguous, contradicted;
};

/* Sets runs of all queues of requests. */
void matching_run(struct matching *m);

/* Nanoseconds to add to the times of a target for those of an initiator. */
static inline const struct offset *matching_offset(const struct matching *m, size_t initiator, size_t target)
{
	return &m->offsets[initiator * m->n + target];
}

/* Writes how many commands are matched, in these words, and what became of the others. */
void matching_write(struct out *out, const struct matching *m, const char *words);

void matching_free(struct matching *m);
