/* SPDX-License-Identifier: BSD-3-Clause */
#include "reading.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"
#include "count.h"
#include "each_traceline.h"
#include "io.h"
#include "wall.h"

/* A spans.emit function. */
static void add_span(void *context, const struct span *s)
{
	struct reading *r = context;

	sums_span(&r->sums, s);
}

/* A spans.entry function. */
static void see_entry(void *context, struct span *s, uint32_t before, const struct traceline *line)
{
	struct reading *r = context;
	size_t arg;

	if (before == MAP_NONE) {
		s->connection = connections_find(&r->connections, line, &arg);
		s->above = MAP_NONE;
	}
	if (r->sums.wanted & SUMS_SHARES)
		proofs_see(&r->proofs, s, before);
}

static void see_wall(struct reading *r, const struct traceline *line)
{
	uint64_t ns;

	if (wall_read(line->time, &ns) && ns > r->wall)
		r->wall = ns;
}

/* An each_traceline_fn. */
static const char *add_line(void *context, struct traceline *line, struct slice text)
{
	struct reading *r = context;
	const struct intern *states = &r->sums.rows.states;

	(void)text;
	if (states->n == ROWS_STATES && intern_get(states, line->tpoint) == MAP_NONE)
		return "more than 65535 tracepoints";
	if (r->wants_wall)
		see_wall(r, line);
	return spans_line(&r->spans, line);
}

/* Each file has its own addresses and times. */
static void start_file(struct reading *r)
{
	struct sums *sums = &r->sums;
	bool shares = sums->wanted & SUMS_SHARES;

	spans_free(&r->spans);
	proofs_free(&r->proofs);
	r->proofs = (struct proofs){.spans = &r->spans};
	r->spans = (struct spans){
		.types = &sums->rows.types,
		.states = &sums->rows.states,
		.coverage = {.waits = shares && !sums->interval, .slack_ns = sums->interval ? ENDING_GRACE_NS : 0},
		.context = r,
		.emit = add_span,
		.has_lcores = shares};
	if (sums->group.n || sums->wanted != SUMS_TIMES || r->pause)
		r->spans.entry = see_entry;
	spans_start(&r->spans);
	sums->spans = &r->spans;
	sums->connections = &r->connections;
	sums->proofs = &r->proofs;
	sums_next_file(sums);
}

static void pass(void *context)
{
	struct reading *r = context;

	spans_pass(&r->spans, r->spans.now + INTERACTIVE_TICK_MS * 1000000);
	r->pause(r->sums.context);
}

int reading_file(struct reading *r, const char *path)
{
	struct each_traceline in;
	int status;

	start_file(r);
	if (each_traceline_open(&in, path, "trace-latency", r->out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	in.quiet = r->quiet;
	in.joining = r->joining;
	in.pause = r->pause ? pass : NULL;
	status = each_traceline_run(&in, add_line, r);
	r->lines = in.lines.number;
	spans_end(&r->spans);
	sums_end_file(&r->sums);
	return status;
}

void reading_free(struct reading *r)
{
	spans_free(&r->spans);
	proofs_free(&r->proofs);
	connections_free(&r->connections);
	sums_free(&r->sums);
}

/* A note about a number of things. */
struct note {
	size_t counter; /* its offset */
	const char *text;
};

#define COUNTER(member) offsetof(struct reading, member)

static const struct note requests[] = {
	{COUNTER(sums.counts.left_out), ADMIN_LEFT_OUT},
	{COUNTER(spans.admin.possible), ADMIN_POSSIBLE},
};

static const struct note others[] = {
	{COUNTER(sums.counts.uncovered[COVERAGE_OFFCPUSNOOP]),
	 "request{ is|s are} not within the recording of offcpusnoop: off_cpu and irq are those of the others"},
	{COUNTER(sums.counts.uncovered[COVERAGE_BIOSNOOP]),
	 "request{ is|s are} not within the recording of biosnoop: disk is that of the others"},
	{COUNTER(sums.counts.unknown), "object{|s} left out: {its|their} creation is not in the trace"},
	{COUNTER(sums.counts.in_progress), "object{ was|s were} in progress at the end, and {has|have} no whole life"},
	{COUNTER(sums.counts.lost),
	 "object{ was|s were} in flight where entries are missing, and {has|have} no whole life"},
	{COUNTER(sums.counts.single_entry), "object{ has|s have} one entry, and no whole life"},
	{COUNTER(sums.counts.no_peak), "request{ counts|s count} in no peak: {it|they} ended too long before others"},
	{COUNTER(spans.late), "{entry left out: its object|entries left out: their objects} had ended"},
	{COUNTER(spans.beyond),
	 "related {object or state|objects or states} left out: an object has more than are kept"},
	{COUNTER(spans.lifecycle.out_of_order),
	 "{entry left out: it|entries left out: each} is earlier than the previous one of its object"},
	{COUNTER(spans.lifecycle.restarts), LIFECYCLE_RESTARTS},
};

static void put_notes(const struct reading *r, const char *name, const struct note *notes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cli_note(false, name, *(const uint64_t *)((const char *)r + notes[i].counter), notes[i].text);
}

/* How many requests are missing, if they are left out or one of them is the slowest. Other notes count all objects. */
static void note_incomplete(const struct reading *r, const char *name)
{
	const struct sums_counts *counts = &r->sums.counts;
	bool leaves_out = r->sums.wanted & SUMS_SHARES;
	struct out text = {.fd = OUT_MEMORY};

	if (!leaves_out && counts->longest <= counts->longest_life)
		return;
	out_duration_text(&text, counts->longest);
	cli_count(false, counts->incomplete,
		  "%s: %" PRIu64
		  " request{|s} %s: cut by the start or end of the trace, {|one }after more than %.*s; see trace-spans "
		  "-n",
		  name, counts->incomplete,
		  leaves_out                ? "left out"
		  : counts->incomplete == 1 ? "has no whole life"
					    : "have no whole life",
		  (int)text.len, text.buf);
	out_close(&text);
}

static void put_all_notes(const struct reading *r, const char *name)
{
	const char *why = r->sums.wanted & SUMS_SHARES ? seen_why_below(&r->spans.seen) : NULL;

	put_notes(r, name, requests, COUNT(requests));
	if (why)
		cli_notice(false, "%s: %s", name, why);
	if (r->sums.wanted & (SUMS_TIMES | SUMS_SHARES))
		note_incomplete(r, name);
	put_notes(r, name, others, COUNT(others));
}

void reading_notes(const struct reading *r, const char *name, bool quiet)
{
	uint64_t refused = r->sums.counts.refused;

	if (!quiet)
		put_all_notes(r, name);
	cli_count(false, refused,
		  "%s: %" PRIu64 " object{|s} left out: a group has more than 4 KiB, or there are more than 16777216: "
		  "group by something else",
		  name, refused);
}
