/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "count.h"

static const char *const kinds[NUM_KINDS] = {
	[PREEMPTED] = "preempted", [BLOCKED] = "blocked", [YIELDED] = "yielded",
	[MIGRATED] = "migrated",   [IRQ] = "irq",         [SOFTIRQ] = "softirq",
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
static const char *name_at(const char *const *names, size_t n, const struct offcpusnoop_event *e, const char *otherwise,
			   char buffer[CALLS_NAME])
{
	if (e->number < n && names[e->number])
		return names[e->number];
	snprintf(buffer, CALLS_NAME, "%s_%" PRIu32, otherwise, e->number);
	return buffer;
}

#define NAME_AT(names, e, otherwise, buffer) name_at(names, COUNT(names), e, otherwise, buffer)

static struct slice interrupt_of(const struct offcpusnoop_event *e, char buffer[CALLS_NAME])
{
	if (*e->name)
		return SLICE_ARRAY(e->name);
	if (e->kind == SOFTIRQ)
		return slice_of(NAME_AT(softirqs, e, "softirq", buffer));
	return slice_of(NAME_AT(vectors, e, "vector", buffer));
}

/* Where it is blocked; empty: in the kernel itself. */
static const char *place_of(const struct offcpusnoop_event *e, char buffer[CALLS_NAME])
{
	switch (e->number) {
	case IN_FAULT:
		return "fault";
	case IN_STOP:
		return "stop";
	case IN_KERNEL:
		return "";
	default:
		return calls_name(e->number, buffer);
	}
}

static bool is_interrupt(const struct offcpusnoop_event *e)
{
	return e->kind == IRQ || e->kind == SOFTIRQ;
}

/* Wake-ups are stamped on other CPUs, whose clocks may be some nanoseconds apart. */
static uint64_t queued_ns(const struct offcpusnoop_event *e)
{
	return e->end_ns > e->runnable_ns ? e->end_ns - e->runnable_ns : 0;
}

/* Prints the functions, outermost first, separated by semicolons. */
static void put_stack(const struct offcpusnoop_printer *p, const struct offcpusnoop_event *e)
{
	const uint64_t *frames = (const uint64_t *)(e + 1);
	unsigned innermost = 0;

	for (unsigned i = e->depth; i-- > 0;) {
		/* a return address is after the call, perhaps in the next function */
		const char *name = symbols_find(p->kernel, frames[i] - (i > 0));

		if (name && symbols_is_own(name))
			break;
		if (innermost++)
			out_char(p->out, ';');
		out_text(p->out, name ? name : "[unknown]");
	}
}

void print_header(struct offcpusnoop_printer *p)
{
	stamp_heading(&p->stamp, p->out);
	out_printf(p->out, "%-11s %-15s %-7s %-3s %12s %12s %s\n", "TIME(s)", "COMM", "TID", "CPU", "OFF(us)",
		   "QUEUED(us)", "WHY");
}

static void us_column(struct out *out, uint64_t ns)
{
	out_printf(out, "%8" PRIu64 ".%03u ", ns / 1000, (unsigned)(ns % 1000));
}

static void put_reason(struct offcpusnoop_printer *p, const struct offcpusnoop_event *e)
{
	struct out *out = p->out;
	char buffer[CALLS_NAME];

	out_text(out, kinds[e->kind]);
	if (is_interrupt(e)) {
		out_char(out, ' ');
		out_visible(out, interrupt_of(e, buffer));
	} else if (e->kind == BLOCKED) {
		const char *place = place_of(e, buffer);

		out_text(out, *place ? " in " : "");
		out_text(out, place);
	} else if (*e->name) {
		out_text(out, e->kind == YIELDED ? " to " : " by ");
		out_visible(out, SLICE_ARRAY(e->name));
		out_printf(out, " (%" PRIu32 ")", e->by_pid);
	}
	if (!is_interrupt(e) && !(e->cut & CUT_END) && e->next_cpu != e->cpu)
		out_printf(out, ", to CPU %" PRIu32, e->next_cpu);
	if (e->cut)
		out_text(out, e->cut == CUT_BEGIN ? ", since before"
			      : e->cut == CUT_END ? ", still"
						  : ", all the time");
	if (e->depth) {
		out_text(out, ": ");
		put_stack(p, e);
	}
}

void print_text(struct offcpusnoop_printer *p, const struct offcpusnoop_event *e)
{
	struct out *out = p->out;

	stamp_column(&p->stamp, out, e->end_ns);
	out_printf(out, "%-11.6f ", stamp_since(&p->stamp, e->end_ns) / 1e9);
	out_column(out, SLICE_ARRAY(e->comm), 15);
	out_printf(out, "%-7" PRIu32 " %-3" PRIu32 " ", e->tid, e->cpu);
	us_column(out, e->end_ns - e->begin_ns);
	if (e->runnable_ns)
		us_column(out, queued_ns(e));
	else
		out_printf(out, "%12s ", "-");
	put_reason(p, e);
	out_char(out, '\n');
}

static void text_member(struct out *out, const char *key, struct slice value)
{
	out_text(out, key);
	out_json(out, value);
}

static void us_member(struct out *out, const char *key, uint64_t ns)
{
	out_text(out, key);
	out_us(out, ns);
}

static void put_interval_members(struct offcpusnoop_printer *p, const struct offcpusnoop_event *e)
{
	struct out *out = p->out;
	char buffer[CALLS_NAME];

	out_printf(out, ",\"why\":\"%s\"", kinds[e->kind]);
	if (e->kind == BLOCKED && *place_of(e, buffer))
		out_printf(out, ",\"syscall\":\"%s\"", place_of(e, buffer));
	if (e->kind != BLOCKED && *e->name) {
		text_member(out, ",\"by\":", SLICE_ARRAY(e->name));
		out_printf(out, ",\"by_pid\":%" PRIu32, e->by_pid);
	}
	if (e->runnable_ns)
		us_member(out, ",\"queued\":", queued_ns(e));
	if (!(e->cut & CUT_END) && e->next_cpu != e->cpu)
		out_printf(out, ",\"to\":%" PRIu32, e->next_cpu);
	if (e->cut & CUT_BEGIN)
		out_text(out, ",\"late\":true");
	if (e->cut & CUT_END)
		out_text(out, ",\"unfinished\":true");
	if (e->depth) {
		out_text(out, ",\"stack\":\"");
		put_stack(p, e);
		out_char(out, '"');
	}
}

void print_json(struct offcpusnoop_printer *p, const struct offcpusnoop_event *e)
{
	struct out *out = p->out;
	char buffer[CALLS_NAME];

	/* the later time first, so that both are converted by the same readings of the clocks */
	stamp_json(&p->stamp, out, e->end_ns);
	out_printf(out, ",\"lcore\":%" PRIu32 ",\"tpoint\":\"%s\",\"args\":{", e->cpu,
		   is_interrupt(e) ? "IRQ" : "OFF_CPU");
	text_member(out, "\"comm\":", SLICE_ARRAY(e->comm));
	out_printf(out, ",\"tid\":%" PRIu32 ",\"pid\":%" PRIu32 ",\"begin\":%" PRIu64, e->tid, e->pid,
		   stamp_tsc(&p->stamp, e->begin_ns));
	us_member(out, ",\"duration\":", e->end_ns - e->begin_ns);
	if (is_interrupt(e)) {
		out_printf(out, ",\"kind\":\"%s\"", kinds[e->kind]);
		text_member(out, ",\"name\":", interrupt_of(e, buffer));
	} else {
		put_interval_members(p, e);
	}
	out_text(out, "}}\n");
}
