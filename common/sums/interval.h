/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of a trace's time that is summed up by itself, in ns; to == 0: none so far, or all of the trace. */
#pragma once

#include <stdint.h>

struct interval {
	uint64_t from, to;
};

/* The interval of this length that contains a time; they start at 0. */
static inline struct interval interval_of(uint64_t ns, uint64_t length)
{
	struct interval interval = {.from = ns - ns % length};

	if (__builtin_add_overflow(interval.from, length, &interval.to))
		interval.to = UINT64_MAX;
	return interval;
}
