/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-latency prints: a table, JSON lines, or histograms. Times in JSON are in microseconds. */
#ifndef TRACE_LATENCY_PRINT_H
#define TRACE_LATENCY_PRINT_H

#include "out.h"
#include "rows.h"
#include "terminal.h"

/* The line above the tables of an interval, and "begin" and "end" in its JSON lines; nothing without one. */
void print_interval(struct out *out, const struct interval *interval, const struct terminal *terminal);
void print_interval_members(struct out *out, const struct interval *interval);

/* base: the rows of an earlier run to compare with, or NULL. terminal: NULL for JSON. */
void print_table(struct out *out, const struct rows *rows, const struct rows *base, const struct terminal *terminal);

/* Histograms of powers of two. */
void print_histograms(struct out *out, const struct rows *rows, const struct terminal *terminal);
void print_histograms_json(struct out *out, const struct rows *rows);

#endif
