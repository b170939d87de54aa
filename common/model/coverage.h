/* SPDX-License-Identifier: BSD-3-Clause */
/* When the tools whose lines are in a trace were recording, as far as their lines show. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Tools that record while the target writes its trace. */
enum coverage_tool { COVERAGE_OFFCPUSNOOP, COVERAGE_BIOSNOOP, COVERAGE_TOOLS };

/* From the start of its first line to the end of its latest one, in ns. All zero: no line so far. */
struct coverage {
	bool any;
	uint64_t begin, end;
};

/* Sees a line about the time from begin to end. */
static inline void coverage_add(struct coverage *c, uint64_t begin, uint64_t end)
{
	if (!c->any)
		c->begin = begin;
	c->any = true;
	c->end = end > c->end ? end : c->end;
}
