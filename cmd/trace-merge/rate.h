/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ticks per second of trace lines, from two of them: lines do not say it, but have both ticks and microseconds.
 * The microseconds are rounded, so a range of rates is possible; the roundest number in it is taken, as rates are
 * mostly told in MHz.
 */
#ifndef TRACE_MERGE_RATE_H
#define TRACE_MERGE_RATE_H

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

/* The rates at which both times can be those of lines. False when b is not later than a by at least 2 ns. */
bool rate_between(struct rate_point a, struct rate_point b, struct rate_range *range);

/* The number in the range that ends in the most zeros; the lowest of these. */
uint64_t rate_roundest(struct rate_range range);

#endif
