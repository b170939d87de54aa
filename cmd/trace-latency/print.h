/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-latency prints: a table, JSON lines, or histograms. Times in JSON are in microseconds. */
#ifndef TRACE_LATENCY_PRINT_H
#define TRACE_LATENCY_PRINT_H

#include "out.h"
#include "rows.h"
#include "terminal.h"

/* The line above the tables of an interval, and "begin" and "end" in its JSON lines; nothing without one. */
void print_interval(struct out *out, const struct rows_interval *interval, const struct terminal *terminal);
void print_interval_members(struct out *out, const struct rows_interval *interval);

/* 0 to 1; of nothing, 0 */
static inline double print_part(unsigned __int128 part, unsigned __int128 of)
{
	return of ? (double)part / (double)of : 0;
}

static inline double print_per_second(unsigned __int128 n, uint64_t ns)
{
	return ns ? (double)n * 1e9 / (double)ns : 0;
}

/* n is not 0 */
static inline uint64_t print_mean(unsigned __int128 sum, uint64_t n)
{
	return (sum + n / 2) / n;
}

/* base: the rows of an earlier run to compare with, or NULL. */
void print_table(struct out *out, const struct rows *rows, const struct rows *base, const struct terminal *terminal);
void print_json(struct out *out, const struct rows *rows, const struct rows *base);

/* Histograms of powers of two. */
void print_histograms(struct out *out, const struct rows *rows, const struct terminal *terminal);

#endif
