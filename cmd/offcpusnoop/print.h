/* SPDX-License-Identifier: BSD-3-Clause */
/* offcpusnoop's lines of intervals. */
#ifndef OFFCPUSNOOP_PRINT_H
#define OFFCPUSNOOP_PRINT_H

#include <stdint.h>

#include "out.h"
#include "stamp.h"
#include "symbols.h"
#include "bpf/offcpusnoop.h"

struct offcpusnoop_printer {
	struct out *out;
	struct stamp stamp;
	const struct symbols *kernel; /* for the functions of stacks */
};

/* The line above the columns. */
void print_header(struct offcpusnoop_printer *p);

/* The stack follows the event. */
void print_text(struct offcpusnoop_printer *p, const struct offcpusnoop_event *e);

/* A trace line, see spdk-trace-lines(7). */
void print_json(struct offcpusnoop_printer *p, const struct offcpusnoop_event *e);

#endif
