/* SPDX-License-Identifier: BSD-3-Clause */
/* offcpusnoop's lines of intervals. */
#pragma once

#include "livelines.h"
#include "out.h"
#include "symbols.h"
#include "bpf/offcpusnoop.h"

struct offcpusnoop_printer {
	struct livelines columns;
	const struct symbols *kernel; /* for the functions of stacks */
	struct out text;              /* in memory: the reason of the line that is printed, with its stack */
};

/* Prints an interval, whose stack follows the event; NULL: the line above the columns. */
void print_line(struct offcpusnoop_printer *p, const struct offcpusnoop_event *event);
