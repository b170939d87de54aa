/* SPDX-License-Identifier: BSD-3-Clause */
#include "totals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "columns.h"
#include "count.h"
#include "mem.h"
#include "minmax.h"

void totals_add(struct totals *t, const struct offcpusnoop_totals *thread)
{
	if (t->n < TOTALS_MAX) {
		mem_add(t->all, t->n, t->cap, *thread);
		return;
	}
	t->num_others++;
	t->others.end_ns += thread->end_ns - thread->begin_ns;
	for (int i = 0; i < NUM_KINDS; i++)
		t->others.ns[i] += thread->ns[i];
}

static int by_id(const void *a, const void *b)
{
	const struct offcpusnoop_totals *x = a, *y = b;

	return ORDER(x->tid, y->tid) ?: ORDER(x->begin_ns, y->begin_ns);
}

/* A percentage of the time of a thread. */
static struct column_value part_of(uint64_t ns, uint64_t all)
{
	return columns_real(2, all ? 100.0 * ns / all : 0);
}

/* The time on the CPU includes interrupts, which are not the thread's own work. */
static void put_row(struct columns *c, struct slice comm, struct column_value tid,
		    const struct offcpusnoop_totals *thread)
{
	const __u64 *ns = thread->ns;
	const uint64_t all = thread->end_ns - thread->begin_ns, irqs = ns[IRQ] + ns[SOFTIRQ];
	const struct column columns[] = {
		{"COMM", NULL, 15, columns_text(comm)},
		{"TID", NULL, 7, tid},
		{"SECONDS", NULL, -10, columns_real(6, all / 1e9)},
		{"CPU%", NULL, -6, part_of(ns[ON_CPU] > irqs ? ns[ON_CPU] - irqs : 0, all)},
		{"PREEMPT%", NULL, -8, part_of(ns[PREEMPTED], all)},
		{"BLOCK%", NULL, -6, part_of(ns[BLOCKED], all)},
		{"YIELD%", NULL, -6, part_of(ns[YIELDED], all)},
		{"MIGRATE%", NULL, -8, part_of(ns[MIGRATED], all)},
		{"THROTTL%", NULL, -8, part_of(ns[THROTTLED], all)},
		{"IRQ%", NULL, -6, part_of(irqs, all)},
	};

	columns_row(c, columns, COUNT(columns));
}

void totals_print(struct totals *t, struct out *out)
{
	struct columns c = {.out = out, .terminal.width = TERMINAL_WIDE};
	char name[32];

	if (t->n)
		qsort(t->all, t->n, sizeof(*t->all), by_id);
	for (size_t i = 0; i < t->n; i++)
		put_row(&c, SLICE_ARRAY(t->all[i].comm), columns_number(t->all[i].tid), &t->all[i]);
	snprintf(name, sizeof(name), "%" PRIu64 " others", t->num_others);
	if (t->num_others)
		put_row(&c, slice_of(name), (struct column_value){}, &t->others);
	columns_end(&c);
}

void totals_free(struct totals *t)
{
	free(t->all);
	*t = (struct totals){};
}
