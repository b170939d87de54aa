/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds which queue of an initiator is which queue of a target, and which command is which request.
 *
 * A connection keeps the order of its commands. So three commands in a row that a queue of an initiator has once, and
 * a queue of a target as well, are an anchor: anchors say which queues belong together. What is between two anchors
 * belongs together in its order, if it is as much on both sides, of the same types, addresses and lengths. What is
 * before the first and after the last one does, as far as neighbours differ. The offset between two clocks follows from
 * that, and contradicts matches that are wrong.
 *
 * Queues without anchors belong together where the clocks allow a single one of all ways.
 */
#ifndef MATCH_H
#define MATCH_H

#include "offset.h"
#include "side.h"

struct match {
	struct source *sources;
	size_t n;
	bool same_clock;        /* all sources count the same ticks */
	struct offset *offsets; /* of each initiator and target: n * n */

	/* commands by what became of them; those of queues that no target here has are foreign */
	uint64_t commands, matched, foreign, outside, ambiguous, contradicted;
	uint64_t requests; /* that are matched */
};

/* Sets match and source of all ios. */
void match_run(struct match *m);

/* Nanoseconds to add to the times of a target for those of an initiator. */
static inline const struct offset *match_offset(const struct match *m, size_t initiator, size_t target)
{
	return &m->offsets[initiator * m->n + target];
}

void match_free(struct match *m);

#endif
