/* SPDX-License-Identifier: BSD-3-Clause */
/* offwaketime's lines. */
#ifndef OFFWAKETIME_PRINT_H
#define OFFWAKETIME_PRINT_H

#include <stdbool.h>

#include "out.h"
#include "process.h"
#include "symbols.h"
#include "bpf/offwaketime.h"

struct printer {
	struct out *out;
	const struct symbols *kernel;
	const struct processes *processes;
	bool delimited; /* a mark between stacks of the kernel and of the process */
};

/* What has equal stacks, and is the same on both sides. */
struct total {
	uint64_t ns, count;
	const struct stacks *stacks;
	bool is_looked_up; /* all that its addresses need is known of the processes */
};

/* The frames behind the stacks. */
const uint64_t *print_frames(const struct stacks *e);

/* Several lines for a total, for people. */
void print_text(const struct printer *p, const struct total *t);

/* A line as flamegraph.pl reads it. */
void print_folded(const struct printer *p, const struct total *t);

/* A JSON line. */
void print_json(const struct printer *p, const struct total *t);

#endif
