/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlaps.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "spanline.h"

const enum coverage_tool overlaps_tools[OVERLAPS] = {
	[OVERLAP_OFF_CPU] = COVERAGE_OFFCPUSNOOP,
	[OVERLAP_IRQ] = COVERAGE_OFFCPUSNOOP,
	[OVERLAP_DISK] = COVERAGE_BIOSNOOP,
};

static void gather_disks(struct overlaps *overlaps, const struct span *s)
{
	if (s->disk.found == DISK_ONE) {
		overlaps->disks = mem_room(overlaps->disks, overlaps->n, &overlaps->cap);
		overlaps->disks[overlaps->n++] = (struct overlaps_disk){s->disk.begin, s->disk.end};
	}
	for (const struct span *child = s->child; child; child = child->next)
		gather_disks(overlaps, child);
}

static int by_begin(const void *a, const void *b)
{
	const struct overlaps_disk *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The time during which at least one disk I/O was in flight. */
static uint64_t time_of_disks(struct overlaps *overlaps, const struct span *s, uint64_t last)
{
	uint64_t until = s->first, ns = 0;

	overlaps->n = 0;
	gather_disks(overlaps, s);
	if (overlaps->n > 1)
		qsort(overlaps->disks, overlaps->n, sizeof(*overlaps->disks), by_begin);
	for (size_t i = 0; i < overlaps->n; i++) {
		uint64_t begin = overlaps->disks[i].begin > until ? overlaps->disks[i].begin : until;
		uint64_t end = min_u64(overlaps->disks[i].end, last);

		ns += end > begin ? end - begin : 0;
		until = end > until ? end : until;
	}
	return ns;
}

static void add_held(void *context, const struct reactor *reactor, struct reactors_interval *interval, uint64_t ns)
{
	struct spanline *line = context;

	(void)reactor;
	line->facts[interval->kind == REACTORS_OFF_CPU ? FACT_OFF_CPU : FACT_IRQ] += ns;
}

void overlaps_measure(struct overlaps *overlaps, const struct spans *spans, const struct span *s, struct spanline *line)
{
	const struct span_state *state = &s->states[s->n - 1];
	uint64_t last = life_until(spans, s);

	line->facts[FACT_OFF_CPU] = line->facts[FACT_IRQ] = 0;
	life_held(spans, s, add_held, line);
	line->facts[FACT_DISK] = spans->disks.any ? time_of_disks(overlaps, s, last) : 0;
	for (unsigned i = 0; i < OVERLAPS; i++)
		line->covered[i] = coverage_has(spans, s, overlaps_tools[i]);
	line->silent = s->silent;
	if (spans->has_lcores && last > s->last)
		lcores_longer(&spans->lcores, &line->silent, state->lcore, state->ns, last);
}

void overlaps_free(struct overlaps *overlaps)
{
	free(overlaps->disks);
}
