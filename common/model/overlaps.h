/* SPDX-License-Identifier: BSD-3-Clause */
/* What held up a span: what lines of other tools show, and the silence of its lcore. */
#pragma once

#include "fact.h"
#include "spans.h"

struct spanline;

/* All zero before the first call. */
struct overlaps {
	struct overlaps_disk {
		uint64_t begin, end;
	} * disks;
	size_t n, cap;
};

/* The tool that a part comes from. */
extern const enum coverage_tool overlaps_tools[OVERLAPS];

/* Sets the facts of fact_overlaps, each at most the life, whether lines cover them, and the longest silence. */
void overlaps_measure(struct overlaps *overlaps, const struct spans *spans, const struct span *s,
		      struct spanline *line);

void overlaps_free(struct overlaps *overlaps);
