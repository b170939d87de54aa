/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of a trace's tracepoints: TRACE_GROUP of them each, which SPDK enables together. */
#ifndef GROUPS_H
#define GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct reader;

struct group {
	unsigned id;       /* the first tracepoint has this times TRACE_GROUP */
	struct slice name; /* as SPDK's RPCs call it; else the first word of a tracepoint */
	unsigned num, off; /* defined tracepoints, and those of them that were not enabled, if the trace says so */
	uint64_t entries;  /* that reader_next() returned */
};

/*
 * Those with defined tracepoints, those with most entries first. Returns how many. The caller frees them; their names
 * are in the trace.
 */
size_t groups_count(struct group **groups, const struct reader *r);

#endif
