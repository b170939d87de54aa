/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a tool that records knows to be missing in its output: in the last line of that, a trace line or a probe line,
 * as spdk-trace-lines(7) describes both. Without such a line the tool was killed, or has failed: nothing is known then.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "slice.h"

enum lost_kind {
	LOST_EVENTS,  /* have no line */
	LOST_MISSED,  /* times that the kernel did not run a BPF program: lines may be missing or wrong */
	LOST_SKIPPED, /* switches of threads that the kernel has skipped */
	LOST_PARTIAL, /* of anything else that a message is about */
	LOST_KINDS
};

struct lost {
	uint64_t n[LOST_KINDS];
};

/* Whether nothing is missing. */
bool lost_none(const struct lost *l);

/* Writes the end of a trace line, after its times. tool: its name. */
void lost_trace_line(const struct lost *l, struct out *out, const char *tool);

/* Writes a probe line. */
void lost_probe_line(const struct lost *l, struct out *out);

/* Reads the last line of an output, of either form. Returns false if that is another line. */
bool lost_read(struct lost *l, struct slice line);
