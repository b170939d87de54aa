/* SPDX-License-Identifier: BSD-3-Clause */
#include "totals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "mem.h"

void totals_add(struct totals *t, const struct offcpusnoop_totals *thread)
{
	if (t->n < TOTALS_MAX) {
		t->all = mem_room(t->all, t->n, &t->cap);
		t->all[t->n++] = *thread;
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

	return x->tid != y->tid ? (x->tid > y->tid) - (x->tid < y->tid)
				: (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Each heading is at least as wide as "100.00". */
static const char *const headings[NUM_KINDS] = {
	[ON_CPU] = "  CPU%",     [PREEMPTED] = "PREEMPT%", [BLOCKED] = "BLOCK%", [YIELDED] = "YIELD%",
	[MIGRATED] = "MIGRATE%", [THROTTLED] = "THROTTL%", [IRQ] = "  IRQ%",
};

static void put_share(struct out *out, int kind, uint64_t ns, uint64_t all)
{
	out_printf(out, " %*.2f", (int)strlen(headings[kind]), all ? 100.0 * ns / all : 0);
}

/* The time on the CPU includes interrupts, which are not the thread's own work. */
static void put_times(struct out *out, const struct offcpusnoop_totals *thread)
{
	uint64_t all = thread->end_ns - thread->begin_ns, irqs = thread->ns[IRQ] + thread->ns[SOFTIRQ];
	uint64_t on = thread->ns[ON_CPU] > irqs ? thread->ns[ON_CPU] - irqs : 0;

	out_printf(out, "%10.6f", all / 1e9);
	put_share(out, ON_CPU, on, all);
	for (int kind = PREEMPTED; kind <= THROTTLED; kind++)
		put_share(out, kind, thread->ns[kind], all);
	put_share(out, IRQ, irqs, all);
	out_char(out, '\n');
}

void totals_print(struct totals *t, struct out *out)
{
	char name[32];

	out_printf(out, "%-15s %-7s %10s", "COMM", "TID", "SECONDS");
	for (int kind = ON_CPU; kind <= IRQ; kind++)
		out_printf(out, " %s", headings[kind]);
	out_char(out, '\n');
	if (t->n)
		qsort(t->all, t->n, sizeof(*t->all), by_id);
	for (size_t i = 0; i < t->n; i++) {
		const struct offcpusnoop_totals *thread = &t->all[i];

		out_column(out, SLICE_ARRAY(thread->comm), 15);
		out_printf(out, "%-7" PRIu32 " ", thread->tid);
		put_times(out, thread);
	}
	if (!t->num_others)
		return;
	snprintf(name, sizeof(name), "%" PRIu64 " others", t->num_others);
	out_column(out, slice_of(name), 15);
	out_printf(out, "%-7s ", "-");
	put_times(out, &t->others);
}

void totals_free(struct totals *t)
{
	free(t->all);
	*t = (struct totals){};
}
