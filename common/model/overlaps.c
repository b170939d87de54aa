/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlaps.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"

const enum fact overlaps_facts[OVERLAPS] = {
	[OVERLAP_OFF_CPU] = FACT_OFF_CPU,
	[OVERLAP_IRQ] = FACT_IRQ,
	[OVERLAP_DISK] = FACT_DISK,
};

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
	struct overlaps *overlaps = context;

	(void)reactor;
	overlaps->parts[interval->kind == REACTORS_OFF_CPU ? OVERLAP_OFF_CPU : OVERLAP_IRQ] += ns;
}

void overlaps_measure(struct overlaps *overlaps, const struct spans *spans, const struct span *s)
{
	const struct span_state *state = &s->states[s->n - 1];
	uint64_t last = life_until(spans, s);

	overlaps->parts[OVERLAP_OFF_CPU] = overlaps->parts[OVERLAP_IRQ] = 0;
	life_held(spans, s, add_held, overlaps);
	overlaps->parts[OVERLAP_DISK] = spans->disks.any ? time_of_disks(overlaps, s, last) : 0;
	for (unsigned i = 0; i < OVERLAPS; i++) {
		overlaps->known[i] = spans->coverage.tools[overlaps_tools[i]].any;
		overlaps->covered[i] = coverage_has(spans, s, overlaps_tools[i]);
	}
	overlaps->silent = s->silent;
	if (spans->has_lcores && last > s->last)
		lcores_longer(&spans->lcores, &overlaps->silent, state->lcore, state->ns, last);
}

bool overlaps_silence_is_rare(const struct overlaps *overlaps, const struct spans *spans)
{
	return overlaps->silent.ns && lcores_is_rare(&spans->lcores, overlaps->silent.lcore, overlaps->silent.ns);
}

void overlaps_free(struct overlaps *overlaps)
{
	free(overlaps->disks);
}
