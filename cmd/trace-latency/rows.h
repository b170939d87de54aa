/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of trace-latency: a histogram for every group, type of objects, and transition from one state to
 * the next, and one for the whole life. Values are whole nanoseconds, the unit of `us` in trace lines: ticks
 * would need a rate, which lines do not tell.
 */
#ifndef TRACE_LATENCY_ROWS_H
#define TRACE_LATENCY_ROWS_H

#include "histogram.h"
#include "map.h"
#include "intern.h"
#include "slice.h"

enum {
	ROWS_GROUPS = 1 << 24,
	ROWS_TYPES = 256,
	ROWS_STATES = 65535,
	/* as `from` and `to`: the row of the whole life */
	ROWS_LIFE = ROWS_STATES,
};

struct row {
	uint32_t group, type, from, to;
	struct histogram times;
};

/* All zero has no rows. */
struct rows {
	/*
	 * groups as JSON objects, the empty text being no group; types and states as they are written in
	 * JSON between quotes
	 */
	struct intern groups, types, states;
	struct map map;
	struct row **all;
	uint32_t n, cap;
};

/* These end the tool when there is no memory. */

/* The row, which is made when there is none. */
struct row *rows_at(struct rows *rows, uint32_t group, uint32_t type, uint32_t from, uint32_t to);

/* The row of these texts; from and to are NULL for the whole life. NULL with *error set when there are too many. */
struct row *rows_named(struct rows *rows, struct slice group, struct slice type,
		       const struct slice *from, const struct slice *to, const char **error);

/* The row that is the same in other rows, or NULL. */
const struct row *rows_like(const struct rows *rows, const struct rows *others,
			    const struct row *other);

static inline bool row_is_life(const struct row *row)
{
	return row->from == ROWS_LIFE;
}

/*
 * The rows that have values, ordered for people: by group, by type, the whole life before its parts, and
 * those by their time, the longest first. Ties are broken by name, so the order is the same however the
 * rows came together. The caller frees it.
 */
struct ranked {
	const struct row *row;
	double share; /* of the time of its group's objects of its type, 0 to 1 */
} * rows_ranked(const struct rows *rows, uint32_t *n);

/* Makes all histograms empty. */
void rows_clear(struct rows *rows);

void rows_free(struct rows *rows);

#endif
