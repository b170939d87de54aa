/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over spans that have ended: how long objects stayed in each state and lived, what the time of requests was in,
 * how many there were. A span is added with the tree that it belongs to, when the root of that has ended. With
 * intervals, a tree belongs to that of the root's last entry.
 */
#pragma once

#include "group.h"
#include "rates.h"
#include "rows.h"
#include "shares.h"

enum { SUMS_TIMES = 1, SUMS_SHARES = 2, SUMS_RATES = 4 }; /* what is summed up: rows, shares, rates */

struct sums {
	/* these are set before the first span */

	unsigned wanted;
	bool related; /* entries of the spans below a span are its states as well */
	bool admin;   /* admin requests as well */
	const struct spans *spans;
	struct connections *connections; /* for groups */
	const struct proofs *proofs;     /* of the spans, for shares */
	uint64_t interval;               /* ns; 0: none */
	void (*over)(void *context);     /* an interval is over, and what is summed up will be cleared */
	bool keeps;                      /* no, it will not be */
	void *context;                   /* for over */
	struct group group;              /* see group_start() */

	struct rows rows; /* also has the texts, and the interval, of the other two */
	struct shares shares;
	struct rates rates;
	uint64_t elapsed; /* ns: from the first entry to the last one, of all files that have ended */

	/* of this file */
	struct sums_counts {
		uint64_t measured;     /* spans with something to measure */
		uint64_t left_out;     /* admin requests */
		uint64_t unknown;      /* spans of objects without an id */
		uint64_t incomplete;   /* requests without an id, or in progress at the end */
		uint64_t longest;      /* of these: ns that it lived at least */
		uint64_t longest_life; /* ns, of the requests that were measured */
		uint64_t single_entry; /* objects with no entry but their creation */
		uint64_t in_progress;  /* objects that were in progress at the end */
		uint64_t lost;         /* objects whose end is lost: see life_is_lost() */
		uint64_t refused;      /* spans whose group is too long, or exceeds ROWS_GROUPS */
		uint64_t no_peak;      /* requests that ended too long before others to count in a peak */
		/* requests in shares that a tool does not cover whose lines are among the others; set at the end */
		uint64_t uncovered[COVERAGE_TOOLS];
	} counts;
	uint64_t shared, covered[COVERAGE_TOOLS]; /* requests in shares; those that lines of a tool cover */

	/* scratch */
	struct span_state *states; /* of a span and those below it */
	size_t num_states, cap_states;
};

/* What comes next is another file, with addresses and times of its own. */
void sums_next_file(struct sums *sums);

/* Adds a span that has ended, from spans.emit. One below another is added with that. */
void sums_span(struct sums *sums, const struct span *s);

/* After spans_end(). The last interval is not over, in the sense above, and remains. */
void sums_end_file(struct sums *sums);

/* The time in ns that rates cover: of the interval, or of all files. */
uint64_t sums_elapsed(const struct sums *sums);

/* The length of the slots of rates.h. */
uint64_t sums_slot(const struct sums *sums);

void sums_free(struct sums *sums);
