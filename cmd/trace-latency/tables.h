/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What trace-latency prints: tables, or JSON lines with times in microseconds. rows has the texts of groups and types,
 * and the interval.
 */
#pragma once

#include "cells.h"
#include "rates.h"
#include "shares.h"

/* Times. base: the rows of an earlier run to compare with, or NULL. */
void print_table(struct output *to, const struct rows *rows, const struct rows *base);

/* Histograms of powers of two. */
void print_histograms(struct output *to, const struct rows *rows);

/* The table of --layers. */
void layers_table(struct output *to, const struct shares *shares, const struct rows *rows);

/* The table of --rates. ns: the time in which the requests ended; slot: that of a peak. */
void rates_table(struct output *to, const struct rates *rates, const struct rows *rows, uint64_t ns, uint64_t slot);
