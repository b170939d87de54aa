/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What held up a span: what lines of other tools show, and the silence of its lcore. These are parts of its life but
 * not layers: they overlap the layers, and their sum means nothing.
 */
#pragma once

#include "fact.h"
#include "spans.h"

enum overlap {
	OVERLAP_OFF_CPU, /* the reactor of its lcore was off its CPU */
	OVERLAP_IRQ,     /* an interrupt ran on that CPU */
	OVERLAP_DISK,    /* disk I/O below it was in flight */
	OVERLAPS
};

extern const enum fact overlaps_facts[OVERLAPS];

static inline const char *overlaps_name(enum overlap part)
{
	return fact_table[overlaps_facts[part]].name;
}

/* The tool whose lines say it. */
extern const enum coverage_tool overlaps_tools[OVERLAPS];

/* All zero before the first call. */
struct overlaps {
	uint64_t parts[OVERLAPS]; /* ns, each at most the life */
	/* whether the tool has written lines so far, and whether they cover the life: if not, it may be more */
	bool known[OVERLAPS], covered[OVERLAPS];
	struct lcores_silent silent; /* the longest one of its lcore, at most the life; see spans.has_lcores */
	struct overlaps_disk {
		uint64_t begin, end;
	} * disks;
	size_t n, cap;
};

void overlaps_measure(struct overlaps *overlaps, const struct spans *spans, const struct span *s);

/* Whether the lcore is seldom silent for so long: else it may just have had nothing to do. */
bool overlaps_silence_is_rare(const struct overlaps *overlaps, const struct spans *spans);

void overlaps_free(struct overlaps *overlaps);
