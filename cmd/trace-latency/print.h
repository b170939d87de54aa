/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-latency prints: a table, JSON lines, or histograms. Times are microseconds with three decimals. */
#ifndef TRACE_LATENCY_PRINT_H
#define TRACE_LATENCY_PRINT_H

#include "out.h"
#include "rows.h"

/* The stretch of time that the rows are about; to == 0: all of it. */
struct interval {
	uint64_t from, to; /* ns */
};

/* base: the rows of an earlier run to compare with, or NULL. */
void print_table(struct out *out, const struct rows *rows, const struct rows *base,
		 struct interval interval);
void print_json(struct out *out, const struct rows *rows, const struct rows *base,
		struct interval interval);

/* Histograms of powers of two, as bcc draws them. */
void print_histograms(struct out *out, const struct rows *rows, struct interval interval);

/* What a row is called in messages, in memory that the caller frees. */
char *print_name(const struct rows *rows, const struct row *row);

#endif
