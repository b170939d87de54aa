/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how long the objects of trace lines stay in each state, and live, from the spans of a trace. A span is
 * measured when the root of its tree has ended: its group depends on the spans above and below it. At the end of an
 * interval, what is known so far of the trees that have entries in it is measured.
 */
#ifndef TRACE_LATENCY_TREES_H
#define TRACE_LATENCY_TREES_H

#include "connection.h"
#include "group.h"
#include "lcore_rows.h"
#include "overlaps.h"
#include "proofs.h"
#include "rates.h"
#include "rows.h"
#include "self_time.h"
#include "shares.h"
#include "spans.h"

struct trees {
	/* set before trees_lines() */
	bool related;      /* entries of the spans below a span are its states as well */
	uint64_t interval; /* ns; 0: none */
	bool admin;        /* admin requests as well */
	bool wants_wall;
	struct group *group;
	struct rows *rows;         /* with intervals, of the latest one */
	struct shares *shares;     /* of requests only, instead of rows; NULL: not wanted */
	struct rates *rates;       /* ditto */
	struct lcore_rows *lcores; /* ditto */
	struct out *out;
	void (*print)(void *context); /* prints an interval */
	void *context;                /* for print */

	/* of the file that was measured last */
	struct spans spans;
	uint64_t lines;
	uint64_t begin, end; /* ns: entries of the target; begin > end: none so far */
	uint64_t measured;   /* spans with something to measure; entries, if lcores are wanted */

	/* what could not be measured */
	uint64_t left_out;     /* admin requests */
	uint64_t unknown;      /* spans of objects without an id */
	uint64_t incomplete;   /* requests without an id, or in progress at the end */
	uint64_t longest;      /* of these: ns that it lived at least */
	uint64_t longest_life; /* ns, of the requests that were measured */
	/* requests in shares; of these, those that lines of a tool cover */
	uint64_t shared, covered[SPANS_TOOLS];
	uint64_t single_entry; /* objects with no entry but their creation */
	uint64_t in_progress;  /* objects that were in progress at the end */
	uint64_t lost;         /* objects whose end is lost: see spans_is_lost() */
	uint64_t refused;      /* spans whose group is too long, or exceeds ROWS_GROUPS */
	uint64_t late;         /* lives whose end became known after their interval */
	uint64_t cut_short;    /* lives that were counted, and went on */
	uint64_t no_peak;      /* requests that ended too long before others to count in a peak */

	uint64_t wall;    /* if wanted: the latest time of day in the lines of all files so far; 0: none */
	uint64_t elapsed; /* ns: from the first entry of the target to the last one, of all files so far */

	const struct span **touched; /* have an entry in the interval; some are free */
	size_t num_touched, cap_touched;
	struct self_time self;
	struct overlaps overlaps;
	/* for shares */
	struct connections connections;
	struct proofs proofs;
	struct request_io io;
	struct tree_state {
		struct span_state at;
		bool is_new; /* not measured so far */
	} * states;          /* of a span and those below it */
	size_t num_states, cap_states;
};

/*
 * Measures the lines of a file, in addition to those of earlier files. Returns 0, or -1 after a
 * message. A file that cannot be opened ends the tool.
 */
int trees_lines(struct trees *t, const char *path);

/* The time in ns that the rows so far cover: of the interval, or of all files. */
uint64_t trees_elapsed(const struct trees *t);

/* The length of the slots of rates.h. */
uint64_t trees_slot(const struct trees *t);

void trees_free(struct trees *t);

#endif
