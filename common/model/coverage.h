/* SPDX-License-Identifier: BSD-3-Clause */
/* When the tools whose lines are in a trace were recording, as far as their lines show. */
#pragma once

#include "traceline.h"

struct span;
struct spans;

/* Tools that record while the target writes its trace. */
enum coverage_tool { COVERAGE_OFFCPUSNOOP, COVERAGE_BIOSNOOP, COVERAGE_TOOLS };

struct coverage {
	/* these are set before spans_start() */

	/*
	 * A span that has ended waits until each tool that has written lines has written another one: only that shows
	 * that it was still recording. If that takes long, the tool has stopped, or has nothing to record.
	 */
	bool waits;
	uint64_t slack_ns; /* without that: a tool counts as recording for so long after a line */

	/* from the start of its first line to the end of its latest one, in ns; all zero: no line so far */
	struct coverage_time {
		bool any;
		uint64_t begin, end;
	} tools[COVERAGE_TOOLS];
};

/* Sees a line of a tool, about a time of so many us as the argument has, which ends at ns. */
void coverage_line(struct coverage *c, enum coverage_tool tool, const struct traceline *line, const char *argument,
		   uint64_t ns);

/* Whether the next line of a tool may show that it was recording until the end of a span. */
bool coverage_may_come(const struct coverage *c, const struct span *s);

/* Whether a tool was recording during the life of a span, as far as that is known. */
bool coverage_has(const struct spans *spans, const struct span *s, enum coverage_tool tool);
