/* SPDX-License-Identifier: BSD-3-Clause */
/* offwaketime's lines. */
#ifndef OFFWAKETIME_PRINT_H
#define OFFWAKETIME_PRINT_H

#include <stdbool.h>

#include "out.h"
#include "processes.h"
#include "symbols.h"
#include "bpf/offwaketime.h"

struct offwaketime_printer {
	struct out *out;
	const struct symbols *kernel;
	const struct processes *processes;
	bool delimited; /* a mark between the stacks of kernel and process */
};

/* The times of one target and one waker with equal stacks. */
struct blocked_total {
	uint64_t ns, count;
	const struct stacks *stacks;
	bool is_loaded; /* see processes_load() */
};

/* The frames, which follow the stacks. */
const uint64_t *print_frames(const struct stacks *e);

/* Several lines, for people. */
void print_text(const struct offwaketime_printer *p, const struct blocked_total *t);

/* A line as flamegraph.pl reads it. */
void print_folded(const struct offwaketime_printer *p, const struct blocked_total *t);

/* A JSON line. */
void print_json(const struct offwaketime_printer *p, const struct blocked_total *t);

#endif
