/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <stdio.h>

#include "calls.h"
#include "livenames.h"

static const char *const kinds[NUM_KINDS] = {
	[PREEMPTED] = "preempted",    [BLOCKED] = "blocked", [YIELDED] = LIVE_YIELDED, [MIGRATED] = "migrated",
	[THROTTLED] = LIVE_THROTTLED, [IRQ] = "irq",         [SOFTIRQ] = LIVE_SOFTIRQ,
};

/* By the kernel's numbers. */
static const char *const softirqs[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
};

/* The vectors of x86 that have tracepoints, by their numbers. */
static const char *const vectors[] = {
	[0xf4] = "deferred_error_apic", [0xf6] = "irq_work",     [0xf7] = "x86_platform_ipi",
	[0xf9] = "threshold_apic",      [0xfa] = "thermal_apic", [0xfb] = "call_function_single",
	[0xfc] = "call_function",       [0xfd] = "reschedule",   [0xfe] = "error_apic",
	[0xff] = "spurious_apic",       [0xec] = "local_timer",
};

/* The name of e->number, or the buffer. */
static struct slice name_at(const char *const *names, size_t n, const struct offcpusnoop_event *e,
			    const char *otherwise, char buffer[CALLS_NAME])
{
	if (e->number < n && names[e->number])
		return slice_of(names[e->number]);
	snprintf(buffer, CALLS_NAME, "%s_%" PRIu32, otherwise, e->number);
	return slice_of(buffer);
}

/* Where it is blocked; empty: in the kernel itself. */
static struct slice place_of(const struct offcpusnoop_event *e, char buffer[CALLS_NAME])
{
	switch (e->number) {
	case IN_FAULT:
		return slice_of("fault");
	case IN_STOP:
		return slice_of("stop");
	case IN_KERNEL:
		return slice_of("");
	default:
		return slice_of(calls_name(e->number, buffer));
	}
}

/* The place where it is blocked, the name of the interrupt, or that of the thread that took the CPU; empty: unknown. */
static struct slice cause_of(const struct offcpusnoop_event *e, char buffer[CALLS_NAME])
{
	if (e->kind == BLOCKED)
		return place_of(e, buffer);
	if (e->kind == IRQ && !*e->name)
		return name_at(vectors, COUNT(vectors), e, "vector", buffer);
	if (e->kind == SOFTIRQ && !*e->name)
		return name_at(softirqs, COUNT(softirqs), e, "softirq", buffer);
	return SLICE_ARRAY(e->name);
}

/* Wake-ups are stamped on other CPUs, whose clocks may be some nanoseconds apart. */
static uint64_t queued_ns(const struct offcpusnoop_event *e)
{
	return e->end_ns > e->runnable_ns ? e->end_ns - e->runnable_ns : 0;
}

/* Writes the functions, outermost first, separated by semicolons. */
static void put_stack(struct out *out, const struct symbols *kernel, const struct offcpusnoop_event *e)
{
	const uint64_t *frames = (const uint64_t *)(e + 1);
	unsigned innermost = 0;

	for (unsigned i = e->depth; i-- > 0;) {
		/* a return address is after the call, perhaps in the next function */
		const char *name = symbols_find(kernel, frames[i] - (i > 0));

		if (name && symbols_is_own(name))
			break;
		if (innermost++)
			out_char(out, ';');
		out_text(out, name ? name : "[unknown]");
	}
}

/*
 * Writes p->text, as in "blocked in read, to CPU 3: a;b". taken: the cause is a thread that took the CPU; moved: the
 * thread continued on another CPU; waker: of a thread that was blocked. Returns the stack at the end of the text.
 */
static struct slice put_reason(struct offcpusnoop_printer *p, const struct offcpusnoop_event *e, struct slice cause,
			       struct slice waker, bool taken, bool moved)
{
	static const char *const before[NUM_KINDS] = {
		[PREEMPTED] = " by ", [BLOCKED] = " in ", [YIELDED] = " to ",
		[MIGRATED] = " by ",  [IRQ] = " ",        [SOFTIRQ] = " ",
	};
	struct out *out = &p->text;
	size_t n;

	out->len = 0;
	out_text(out, kinds[e->kind]);
	out_text(out, cause.n ? before[e->kind] : "");
	out_slice(out, cause);
	if (waker.n) {
		out_text(out, ", woken by ");
		out_slice(out, waker);
	}
	if (taken || (waker.n && e->by_pid))
		out_printf(out, " (%" PRIu32 ")", e->by_pid);
	if (moved)
		out_printf(out, ", to CPU %" PRIu32, e->next_cpu);
	if (e->cut)
		out_text(out, e->cut == CUT_BEGIN ? ", since before"
			      : e->cut == CUT_END ? ", still"
						  : ", all the time");
	out_text(out, e->depth ? ": " : "");
	n = out->len;
	put_stack(out, p->kernel, e);
	return slice_from(out_contents(out), n);
}

void print_line(struct offcpusnoop_printer *p, const struct offcpusnoop_event *event)
{
	static const struct offcpusnoop_event none = {.kind = PREEMPTED};
	const struct offcpusnoop_event *e = event ? event : &none;
	struct livelines *c = &p->columns;
	char buffer[CALLS_NAME];
	struct slice kind = slice_of(kinds[e->kind]), cause = cause_of(e, buffer);
	bool interrupt = e->kind == IRQ || e->kind == SOFTIRQ, blocked = e->kind == BLOCKED;
	struct slice waker = blocked ? SLICE_ARRAY(e->name) : slice_of("");
	bool taken = !interrupt && !blocked && cause.n, moved = !(e->cut & CUT_END) && e->next_cpu != e->cpu;
	struct slice stack = put_reason(p, e, cause, waker, taken, moved);
	const struct column columns[] = {
		{"TIME(s)", "us", 11,
		 columns_spare(c->stamp.wall ? 1 : 0, columns_seconds(stamp_since(&c->stamp, e->end_ns)))},
		{"COMM", LIVE_COMM, 15, columns_text(SLICE_ARRAY(e->comm))},
		{"TID", LIVE_TID, 7, columns_number(e->tid)},
		{NULL, LIVE_PID, 0, columns_number(e->pid)},
		{"CPU", NULL, 3, columns_number(e->cpu)},
		{NULL, LIVE_BEGIN, 0, columns_ticks(e->begin_ns)},
		{"OFF(us)", LIVE_DURATION, -12, columns_us(e->end_ns - e->begin_ns)},
		{NULL, LIVE_KIND, 0, columns_if(interrupt, columns_word(kind))},
		{NULL, LIVE_NAME, 0, columns_if(interrupt, columns_text(cause))},
		{NULL, LIVE_WHY, 0, columns_if(!interrupt, columns_word(kind))},
		{NULL, LIVE_SYSCALL, 0, columns_if(blocked, columns_name(cause))},
		{NULL, LIVE_BY, 0, columns_if(taken, columns_text(cause))},
		{NULL, LIVE_BY_PID, 0, columns_if(taken, columns_number(e->by_pid))},
		{NULL, LIVE_WAKER_COMM, 0, columns_name(waker)},
		{NULL, LIVE_WAKER_PID, 0, columns_if(waker.n && e->by_pid, columns_number(e->by_pid))},
		{"QUEUED(us)", "queued", -12, columns_if(e->runnable_ns, columns_us(queued_ns(e)))},
		{NULL, "to", 0, columns_if(moved, columns_number(e->next_cpu))},
		{NULL, LIVE_LATE, 0, columns_if(e->cut & CUT_BEGIN, columns_bool(true))},
		{NULL, LIVE_ON, 0, columns_if(e->cut & CUT_END, columns_bool(true))},
		{NULL, "stack", 0, columns_if(e->depth, columns_text(stack))},
		{"WHY", NULL, 0, columns_text(out_contents(&p->text))},
	};

	if (event)
		livelines_event(c, e->end_ns, e->cpu, interrupt ? LIVE_IRQ : LIVE_OFF_CPU, columns, COUNT(columns));
	else
		livelines_heading(c, columns, COUNT(columns));
}
