/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What held up a span, from lines of other tools. These are parts of its life but not layers: they overlap the layers,
 * and their sum means nothing.
 */
#ifndef HELD_H
#define HELD_H

#include "spans.h"

enum held_part {
	HELD_OFF_CPU, /* the reactor of its lcore was off its CPU */
	HELD_IRQ,     /* an interrupt ran on that CPU */
	HELD_DISK,    /* disk I/O below it was in flight */
	HELD_PARTS
};

extern const char *const held_names[HELD_PARTS];

/* All zero before the first call. */
struct held {
	uint64_t parts[HELD_PARTS]; /* ns, each at most the life */
	struct held_disk {
		uint64_t begin, end;
	} * disks;
	size_t n, cap;
};

void held_measure(struct held *held, const struct spans *spans, const struct span *s);

/* Whether the trace has any such lines. */
bool held_is_known(const struct spans *spans);

void held_free(struct held *held);

#endif
