/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-latency prints: a table, JSON lines, or histograms. Times in JSON are in microseconds. */
#pragma once

#include "cells.h"

/* The line above the tables of an interval, and "begin" and "end" in its JSON lines; nothing without one. */
void print_interval(struct out *out, const struct interval *interval, const struct terminal *terminal);
void print_interval_members(struct out *out, const struct interval *interval);

/* base: the rows of an earlier run to compare with, or NULL. */
void print_table(struct output *to, const struct rows *rows, const struct rows *base);

/* Histograms of powers of two. */
void print_histograms(struct output *to, const struct rows *rows);
