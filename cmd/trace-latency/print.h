/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-latency prints: a table, JSON lines, or histograms. Times in JSON are in microseconds. */
#pragma once

#include "cells.h"

/* base: the rows of an earlier run to compare with, or NULL. */
void print_table(struct output *to, const struct rows *rows, const struct rows *base);

/* Histograms of powers of two. */
void print_histograms(struct output *to, const struct rows *rows);
