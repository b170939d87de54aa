/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of trace-latency: what they start with is the same in all tables. */
#pragma once

#include "columns.h"
#include "rows.h"

/* Where tables go. */
struct output {
	struct out out;
	struct columns columns; /* its out is that; JSON is not plain */

	/* scratch: names of columns, and texts of a row; in memory */
	char **keys;
	size_t num_keys, cap_keys;
	struct out object, from;
};

static inline bool output_is_human(const struct output *to)
{
	return !to->columns.is_json && !to->columns.terminal.plain;
}

/* Adds what identifies a row in JSON. row: in a table of times, or NULL. */
void cells_members(struct columns *c, const struct rows *rows, const struct rows_name *name, const struct latency *row);

/* The line above the tables of an interval; nothing without one. */
void cells_interval(struct output *to, const struct interval *interval);

/*
 * Starts a row: the values of the keys of -g, the type of objects and the interval. rows has the texts. latency: what
 * the row is of, in a table of times, or NULL.
 */
void cells_start_row(struct output *to, const struct rows *rows, const struct rows_name *name,
		     const struct latency *latency);

/* The colour of what a row is of; NULL: none. */
const char *cells_sgr(const struct rows *rows, const struct latency *row);

/* Ends the table of an interval. */
void cells_end(struct output *to, const struct interval *interval);

void cells_free(struct output *to);
