/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of trace-dump -i, -d and -O: what a trace says besides its entries. */
#ifndef TRACE_DUMP_INFO_H
#define TRACE_DUMP_INFO_H

#include <stdint.h>

#include "slice.h"

struct merge_ring;
struct out;
struct trace;
struct trace_owner;

/* What was counted while the entries were read. */
struct info_counts {
	uint64_t entries, before_window, cleared, torn, undefined;
	uint64_t *by_lcore; /* by index in the trace */
};

/* Rings is NULL for JSON, which says nothing of them. */
void info_write(struct out *out, const struct trace *t, const struct merge_ring *rings,
		uint64_t window, const struct info_counts *counts);

void info_definitions(struct out *out, const struct trace *t);

void info_owners(struct out *out, const struct trace *t);

/* One of these lines, without what the entries tell. prefix: the letter of the owner's type, 0: none. */
void info_owner(struct out *out, unsigned id, char prefix, const struct trace_owner *owner);

/* The owners of spdk_trace's JSON: a checked JSON object of descriptions by id, which is all there is. */
void info_json_owners(struct out *out, struct slice table);

#endif
