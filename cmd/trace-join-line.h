/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One trace line (spdk-trace-lines(7)) taken apart: what the text form shows and what objects are matched by.
 * All slices point into the line. Keys may come in any order, but the order of trace-dump is the fast one.
 */
#ifndef TRACE_JOIN_LINE_H
#define TRACE_JOIN_LINE_H

#include <stdint.h>

#include "slice.h"

struct lifetime;

struct trace_line {
	uint64_t tsc;
	struct slice us, lcore, size, object_us; /* numbers as written; p is NULL without */
	struct slice tpoint, poller, owner, object_id,
		related; /* strings as written between quotes, ditto */
	uint64_t object_value;
	struct trace_line_arg {
		struct slice key;              /* as written between quotes */
		struct slice value;            /* as written, with its quotes */
		const struct lifetime *object; /* what its address means; for the caller to set */
	} * args;
	unsigned num_args, cap;
};

/*
 * Takes the line apart into l, which begins as all zero and is used again for the next line. Returns NULL,
 * or why it is not a trace line.
 */
const char *trace_line_parse(struct trace_line *l, struct slice line);

/* The number that an argument's value is: "0x…" or an unsigned integer. False when it is none. */
bool trace_line_number(struct slice value, uint64_t *number);

void trace_line_free(struct trace_line *l);

#endif
