/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What held up a span, from lines of other tools. These are parts of its life but not layers: they overlap the layers,
 * and their sum means nothing.
 */
#ifndef OVERLAPS_H
#define OVERLAPS_H

#include "spans.h"

enum overlap {
	OVERLAP_OFF_CPU, /* the reactor of its lcore was off its CPU */
	OVERLAP_IRQ,     /* an interrupt ran on that CPU */
	OVERLAP_DISK,    /* disk I/O below it was in flight */
	OVERLAPS
};

extern const char *const overlaps_names[OVERLAPS];

/* The tool whose lines say it. */
extern const enum spans_tool overlaps_tools[OVERLAPS];

/* All zero before the first call. */
struct overlaps {
	uint64_t parts[OVERLAPS]; /* ns, each at most the life */
	/* whether the tool has written lines so far, and whether they cover the life: if not, it may be more */
	bool known[OVERLAPS], covered[OVERLAPS];
	struct overlaps_disk {
		uint64_t begin, end;
	} * disks;
	size_t n, cap;
};

void overlaps_measure(struct overlaps *overlaps, const struct spans *spans, const struct span *s);

void overlaps_free(struct overlaps *overlaps);

#endif
