/* SPDX-License-Identifier: BSD-3-Clause */
#include "held.h"

#include <stdlib.h>

#include "mem.h"

const char *const held_names[HELD_PARTS] = {
	[HELD_OFF_CPU] = "off_cpu",
	[HELD_IRQ] = "irq",
	[HELD_DISK] = "disk",
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void gather_disks(struct held *held, const struct span *s)
{
	if (s->disk.found == DISK_ONE) {
		held->disks = mem_room(held->disks, held->n, &held->cap);
		held->disks[held->n++] = (struct held_disk){s->disk.begin, s->disk.end};
	}
	for (const struct span *child = s->child; child; child = child->next)
		gather_disks(held, child);
}

static int by_begin(const void *a, const void *b)
{
	const struct held_disk *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The time during which at least one disk I/O was in flight. */
static uint64_t time_of_disks(struct held *held, const struct span *s)
{
	uint64_t until = s->first, ns = 0;

	held->n = 0;
	gather_disks(held, s);
	if (held->n > 1)
		qsort(held->disks, held->n, sizeof(*held->disks), by_begin);
	for (size_t i = 0; i < held->n; i++) {
		uint64_t begin = held->disks[i].begin > until ? held->disks[i].begin : until;
		uint64_t end = smaller(held->disks[i].end, s->last);

		ns += end > begin ? end - begin : 0;
		until = end > until ? end : until;
	}
	return ns;
}

/* Limits a time to the life: lines may contradict each other, or be some nanoseconds off. */
static uint64_t within(uint64_t ns, uint64_t life)
{
	return (int64_t)ns < 0 ? 0 : smaller(ns, life);
}

void held_measure(struct held *held, const struct spans *spans, const struct span *s)
{
	uint64_t life = s->last - s->first, *parts = held->parts;

	parts[HELD_OFF_CPU] = within(s->held[REACTORS_OFF_CPU], life);
	parts[HELD_IRQ] = within(s->held[REACTORS_IRQ], life - parts[HELD_OFF_CPU]);
	parts[HELD_DISK] = spans->disks.any ? time_of_disks(held, s) : 0;
}

bool held_is_known(const struct spans *spans)
{
	return spans->reactors.n || spans->disks.any;
}

void held_free(struct held *held)
{
	free(held->disks);
}
