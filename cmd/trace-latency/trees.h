/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures as measure.h does, but from the spans of a trace. So groups can depend on facts about a
 * request that are not known until its tree of spans has ended.
 */
#ifndef TRACE_LATENCY_TREES_H
#define TRACE_LATENCY_TREES_H

#include "group.h"
#include "held.h"
#include "lift.h"
#include "rows.h"
#include "self.h"
#include "shares.h"
#include "spans.h"

struct trees {
	/* set before trees_lines() */
	bool related; /* entries of the spans below a span are its states as well */
	struct group *group;
	struct rows *rows;
	struct shares *shares; /* of requests only, instead of rows; NULL: not wanted */
	struct out *out;

	/* of the file that was measured last */
	struct spans spans;
	uint64_t lines;
	uint64_t measured; /* spans */

	/* what could not be measured */
	uint64_t unknown;      /* spans of objects without an id */
	uint64_t cut;          /* requests without their creation, if shares are wanted */
	uint64_t single_entry; /* objects with no entry but their creation */
	uint64_t in_progress;  /* objects that were in progress at the end */
	uint64_t refused;      /* spans whose group is too long, or exceeds ROWS_GROUPS */

	struct intern firsts; /* groups of first lines */
	struct lift lift;
	struct self self;
	struct held held;
	struct span_state *states; /* of a span and those below it */
	size_t num_states, cap_states;
};

/* As measure_lines(). */
int trees_lines(struct trees *t, const char *path);

void trees_free(struct trees *t);

#endif
