/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-perfetto: converts trace lines to a trace for Perfetto, in its own format. Each connection
 * has rows with its requests, below them rows with what they started, each with a slice for each
 * state. Arrows lead from a request to what it started, counters show how many are in flight, and
 * each lcore has a track with the entries that are about no object.
 */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "draw.h"
#include "io.h"
#include "tracelines.h"
#include "wall.h"

static struct {
	bool entries, quiet;
} opt;

static struct intern types, states;
static struct spans spans;
static struct draw draw;
static struct out out;
static bool is_state, is_held; /* what the line was: the entry of a span, or a time in which a reactor did not run */
static unsigned idle_ticks;    /* since the last line */

static void keep_entry(void *context, struct span *s, uint32_t before, const struct traceline *line, struct slice text)
{
	(void)context;
	(void)text;
	is_state = true;
	draw_entry(&draw, s, before, line);
}

static void draw_reactor(void *context, const struct reactor *reactor, const struct reactors_interval *interval,
			 const struct traceline *line)
{
	(void)context;
	is_held = true;
	draw_held(&draw, reactor, interval, line);
}

static void draw_ended(void *context, const struct span *s)
{
	(void)context;
	draw_span(&draw, s);
}

static const char *handle_line(void *context, struct traceline *line, struct slice text)
{
	uint64_t ns, realtime;
	const char *error;

	(void)context;
	idle_ticks = 0;
	is_state = is_held = false;
	error = traceline_time(line, &ns);
	if (error)
		return error;
	packets_pass(&draw.packets, ns);
	if (line->time.p && packets_wants_clock(&draw.packets) && wall_read(line->time, &realtime))
		packets_clock(&draw.packets, ns, realtime);
	error = spans_line(&spans, line, text);
	if (error || is_held || (is_state && !opt.entries))
		return error;
	return draw_line(&draw, line, ns);
}

/* No line has come for a tick. After a second, spans in final states end. */
static void pass(void *context)
{
	enum { TICKS = 1000 / INTERACTIVE_TICK_MS };

	(void)context;
	if (++idle_ticks == TICKS)
		spans_pause(&spans);
}

static const struct cli_option options[] = {
	{'e', "entries", NULL, "draw all entries on the tracks of their lcores, also those of objects",
	 .flag = &opt.entries},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print the trace lines of FILE as a trace for ui.perfetto.dev and trace_processor, in Perfetto's binary\n"
	"format; without FILE, or when it is -, those of standard input.\n",
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | %s > trace.pftrace\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | %s > trace.pftrace\n",
	options,
};

static void start(void)
{
	draw.spans = &spans;
	draw.packets.out = &out;
	draw.packets.events = &states;
	draw.tracks.packets = &draw.packets;
	spans.types = &types;
	spans.states = &states;
	spans.emit = draw_ended;
	spans.entry = keep_entry;
	spans.held = draw_reactor;
	spans_start(&spans);
	packets_start(&draw.packets);
}

/* Prints what was left out. Returns false if the input was empty. */
static bool check(const struct lines *lines)
{
	const char *name = lines->name;
	bool good = lines->number || lines->is;

	if (!good)
		warnx("%s: empty: there are no trace lines", name);
	cli_note(opt.quiet, name, spans.late, "entries are on the tracks of their lcores only: their spans had ended");
	cli_note(opt.quiet, name, spans.lifecycle.out_of_order,
		 "entries are on the tracks of their lcores only: "
		 "each is earlier than the previous one of its object");
	cli_note(opt.quiet, name, spans.lifecycle.restarts, LIFECYCLE_RESTARTS);
	cli_note(opt.quiet, name, spans.beyond, "children or states left out: a span has more than are kept");
	return good;
}

int main(int argc, char **argv)
{
	int status = EXIT_SUCCESS;
	struct tracelines lines;
	const char *path;

	cli_parse(&cli, argc, argv);
	path = cli_operand(argc, argv, "one file of trace lines");
	if (isatty(STDOUT_FILENO))
		cli_usage("the output is binary, not for a terminal: redirect it to a file");
	out_open(&out, STDOUT_FILENO);
	if (tracelines_open(&lines, path, "trace-perfetto", &out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines.pause = pass;
	start();
	if (tracelines_each(&lines, handle_line, NULL) != 0)
		status = EXIT_FAILURE;
	spans_end(&spans);
	tracks_finish(&draw.tracks);
	if (!out.error && !check(&lines.lines))
		status = EXIT_FAILURE;
	spans_free(&spans);
	intern_free(&types);
	intern_free(&states);
	draw_free(&draw);
	return cli_close(&out, status);
}
