/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The offset between the clocks of two processes, from pairs of commands and requests: a request starts after its
 * command was submitted, and its command completes after the request was answered. Each pair bounds the offset. All
 * lines, of time and offset, that keep within all bounds are a polygon in the plane of slope and intercept. When a pair
 * leaves none, the clock was set or slewed: another segment starts.
 *
 * How far the line may be from the true offset does not rely on that: only on that a clock is never slewed by more than
 * OFFSET_SLEW within a segment, so that pairs bound the offset at the times near them as well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Clocks differ less: a slew is 500 ppm as a rule. */
#define OFFSET_SLOPE_MAX 0.002
#define OFFSET_SLEW      0.0005

enum { OFFSET_CORNERS = 64 };

/* A request from begin to end, in times of the target; and the least and the largest offset that its command allows. */
struct offset_pair {
	int64_t begin, end, least, largest;
};

/* Nanoseconds to add to times of the target, for those of the initiator. */
struct offset_segment {
	int64_t from, to; /* times of the target: when its first and its last pair start */
	int64_t base;     /* the offset is base + at + slope * (time - from) */
	double at, slope; /* of a line that keeps within all bounds */
	double bound;     /* the true offset is at most so far away, at each of its pairs */
	double even;      /* the same if the clocks run evenly */
	size_t pairs;
};

/* All zero: the offset is 0. */
struct offset {
	struct offset_segment *all;
	size_t n, cap;
	int64_t constant;
	bool is_known;
	struct offset_polygon {
		double slope[OFFSET_CORNERS], at[OFFSET_CORNERS];
		unsigned n;
	} polygon; /* of the last segment */
};

/* Finds it from pairs in the order of begin. o is all zero. */
void offset_find(struct offset *o, const struct offset_pair *pairs, size_t n);

/* The offset at a time of the target, and how far the true one may be away. */
int64_t offset_at(const struct offset *o, int64_t ns, double *bound);

/* Whether the pairs belong together: few segments explain many of them. */
bool offset_is_plausible(const struct offset *o);

void offset_free(struct offset *o);
