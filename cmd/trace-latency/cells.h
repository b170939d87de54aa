/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of --layers, --rates and --reactors, and their lines of JSON: each row is one of both. */
#ifndef TRACE_LATENCY_CELLS_H
#define TRACE_LATENCY_CELLS_H

#include "rows.h"
#include "tabular.h"

struct cells {
	struct out *out;
	const struct interval *interval;
	struct tabular t; /* its terminal is NULL for JSON */
};

/* Writes a row of n columns. JSON has the interval after the first ones. */
void cells_row(struct cells *c, const struct column *columns, size_t first, size_t n);

/* The same after the values of the keys of -g, the type of objects and the interval. rows has the texts. */
void cells_named_row(struct cells *c, const struct rows *rows, const struct rows_name *name,
		     const struct column *columns, size_t n);

/* Prints the table. */
void cells_end(struct cells *c);

#endif
