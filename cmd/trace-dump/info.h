/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of trace-dump -i and -d, which describe the trace itself. */
#ifndef TRACE_DUMP_INFO_H
#define TRACE_DUMP_INFO_H

struct anchors;
struct out;
struct reader;
struct trace;
struct us;

/* The line of -i, when all entries have been read; with times of day unless anchors is NULL. */
void info_write(struct out *out, const struct reader *r, const struct us *rate, struct anchors *anchors);

void info_write_definitions(struct out *out, const struct trace *t);

#endif
