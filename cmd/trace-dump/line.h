/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes entries as trace lines (spdk-trace-lines(7)).
 *
 * What is the same in many lines is made once: the names of a tracepoint and of its arguments, an lcore's
 * number and thread name. The rest of a line is digits, two at a time, straight into the output's block.
 */
#ifndef TRACE_DUMP_LINE_H
#define TRACE_DUMP_LINE_H

#include "slice.h"
#include "tracefile.h"
#include "us.h"

struct entry;
struct out;

struct line_writer {
	const struct trace *trace;
	struct out *out;
	struct us us;
	uint64_t base; /* ticks of time 0 */
	struct line_tpoint {
		struct slice name;
		struct slice args[TRACE_ARGS]; /* what stands before each value */
		size_t room; /* bytes that all these texts and the values may take */
	} * tpoints;         /* by id and, below, by index: made when first needed */
	struct slice *lcores;
};

/* The trace must outlive w. Returns -1 when there is no memory. */
int line_open(struct line_writer *w, const struct trace *t, struct out *out);

/* Sets the ticks of time 0; before the first line. */
static inline void line_base(struct line_writer *w, uint64_t tsc)
{
	w->base = tsc;
}

/* Writes one line; what becomes of it is in the output's error. */
void line_write(struct line_writer *w, const struct entry *e);

void line_close(struct line_writer *w);

#endif
