/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables for people, with tabs for programs, or as JSON lines: a row is one of each. */
#pragma once

#include "rows.h"
#include "tabular.h"

/* Where tables go. */
struct output {
	struct out out;
	struct terminal terminal;
	bool is_json;
	bool has_heads; /* with tabs: the names of columns are written, once for all intervals */
};

static inline bool output_is_plain(const struct output *to)
{
	return !to->is_json && to->terminal.plain;
}

static inline bool output_is_human(const struct output *to)
{
	return !to->is_json && !to->terminal.plain;
}

struct cells {
	struct output *to;
	const struct interval *interval;
	struct tabular t;
};

/* Starts a table. */
struct cells cells_start(struct output *to, const struct interval *interval);

/*
 * Writes a row of n columns after the values of the keys of -g, the type of objects and the interval. rows has the
 * texts.
 */
void cells_named_row(struct cells *c, const struct rows *rows, const struct rows_name *name,
		     const struct column *columns, size_t n);

/* Prints the table. */
void cells_end(struct cells *c);
