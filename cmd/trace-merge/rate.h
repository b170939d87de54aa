/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the ticks per second of trace lines from two of them: lines have ticks and microseconds, but no rate. The
 * microseconds are rounded, so a range of rates is possible. The roundest number in it is used, because most rates are
 * whole MHz.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A line's time in both units. */
struct rate_point {
	uint64_t tsc;
	int64_t ns;
};

struct rate_range {
	uint64_t low, high;
};

/* The rates that fit both times. False if no rate fits, or if b is less than 2 ns later than a. */
bool rate_between(struct rate_point a, struct rate_point b, struct rate_range *range);

/* The number in the range that ends in the most zeros; the lowest of these. */
uint64_t rate_roundest(struct rate_range range);
