/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-spans: prints one line per span. A span is the life of an object of a trace, such as a request:
 * what it was, which states it passed through, and where its time went. trace-spans can print only the
 * slowest spans or those in flight, and the story of each: all entries with the time between them.
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "choose.h"
#include "cli.h"
#include "clock.h"
#include "each_traceline.h"
#include "io.h"
#include "print.h"
#include "ranking.h"
#include "spans.h"
#include "story.h"

static struct {
	bool all, json, open, story, quiet;
	uint64_t slowest, stuck_ns;
} opt;

static struct intern types, states;
static struct spans spans;
static struct connections connections;
static struct print print;
static struct choose choose;
static struct ranking ranking;
static struct story story;
static struct out out, text = {.fd = OUT_MEMORY};

static unsigned idle_ticks;         /* since the last line */
static uint64_t cut_off, in_flight; /* spans that -n leaves out */

/* Puts a span into text: its line, and its story. */
static struct slice text_of(const struct span *s, bool in_progress)
{
	text.len = 0;
	if (opt.json)
		print_json(&print, &text, s);
	else if (in_progress)
		print_open(&print, &text, s, spans.now);
	else
		print_text(&print, &text, s);
	if (opt.story)
		story_write(&story, &text, s);
	return out_contents(&text);
}

/* Whether the span matches all options. ns: its life, or its age if it is open. */
static bool is_wanted(const struct span *s, uint64_t ns)
{
	if ((s->has_parent && !opt.all) || !choose_span(&choose, &spans, s, ns))
		return false;
	return !choose.keys.n || choose_keys(&choose, &print, s);
}

static uint64_t age_of(const struct span *s)
{
	return (s->open ? spans.now : s->last) - s->first;
}

static void print_span(void *context, const struct span *s)
{
	uint64_t ns = age_of(s);

	(void)context;
	if (opt.story)
		causes_end(&story.causes, s);
	if ((opt.open && !s->open) || (s->open && s->stuck) || !is_wanted(s, ns))
		return;
	if (!opt.open && !opt.slowest) {
		out_slice(&out, text_of(s, false));
	} else if (!opt.open && (s->open || s->cut)) {
		in_flight += s->open;
		cut_off += !s->open;
	} else if (ranking_wants(&ranking, ns)) {
		ranking_add(&ranking, ns, text_of(s, opt.open));
	}
}

static void print_stuck(void *context, const struct span *s)
{
	(void)context;
	if (is_wanted(s, spans.now - s->first))
		out_slice(&out, text_of(s, true));
}

static void see_entry(void *context, struct span *s, uint32_t before, const struct traceline *line, struct slice entry)
{
	uint32_t connection;
	size_t named;

	(void)context;
	(void)entry;
	if (before != MAP_NONE && !opt.story)
		return;
	connection = connections_find(&connections, line, &named);
	/* a write to a socket does not name its connection */
	if (before == MAP_NONE)
		s->connection = connection == MAP_NONE && s->parent ? s->parent->connection : connection;
	if (opt.story)
		story_add(&story, s, before, line, connection, named);
}

static void keep_held(void *context, const struct reactor *reactor, const struct reactors_interval *interval,
		      const struct traceline *line)
{
	(void)context;
	story_hold(&story, reactor, interval, line);
}

static const char *handle_line(void *context, struct traceline *line, struct slice entry)
{
	uint64_t ns;

	(void)context;
	idle_ticks = 0;
	if (opt.story && !traceline_time(line, &ns))
		causes_see(&story.causes, line, ns);
	return spans_line(&spans, line, entry);
}

/* No line has come for a tick. With --stuck, trace time advances; else spans in final states end after a second. */
static void pass(void *context)
{
	enum { TICKS = 1000 / INTERACTIVE_TICK_MS };

	(void)context;
	idle_ticks++;
	if (opt.stuck_ns)
		spans_pass(&spans, spans.now + INTERACTIVE_TICK_MS * 1000000);
	else if (idle_ticks == TICKS)
		spans_pause(&spans);
}

static void add_key(const char *argument)
{
	if (!choose_add_key(&choose, argument))
		cli_usage("-k '%s': KEY=GLOB is expected, such as type=write", argument);
}

static void add_state(const char *argument)
{
	choose_add(&choose.states, argument);
}

static void add_owner(const char *argument)
{
	choose_add(&choose.owners, argument);
}

static const struct cli_option options[] = {
	{'a', "all", NULL, "spans that have a parent as well", .flag = &opt.all},
	{'j', "json", NULL, "span lines, one JSON object for each span, instead of text", .flag = &opt.json},
	{'k', "key", "KEY=GLOB", "only spans with this value, such as type=write; may be given more than once",
	 .call = add_key},
	{'m', "min-us", "US", "only spans of at least US microseconds", .us = &choose.min_ns},
	{'n', "slowest", "N", "only the N slowest spans, the slowest first", .count = &opt.slowest},
	{0, "open", NULL, "only spans in flight at the end of the trace, the oldest first", .flag = &opt.open},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{'s', "story", NULL, "after each span all its entries, with the time before each", .flag = &opt.story},
	{0, "stuck", "US", "also spans in flight for US microseconds, as soon as they are", .us = &opt.stuck_ns},
	{'t', "tpoint", "GLOB", "only spans with an entry of a tracepoint of this name; may be given more than once",
	 .call = add_state},
	{'w', "owner", "GLOB", "only spans of this owner; may be given more than once", .call = add_owner},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print one line for each request in the trace lines of FILE, or other object that nothing in the\n"
	"trace has started: what it was, and where its time went. Without FILE, or when it is -, read\n"
	"standard input.\n",
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | %s -n 10\n"
	"  trace-dump nvmf_trace.pid1234 | %s --open\n"
	"  trace-dump -F -p 1234 | %s -m 5000 -s --stuck 1000000\n",
	options,
};

/* Returns the path of the trace lines. */
static const char *parse_options(int argc, char **argv)
{
	cli_parse(&cli, argc, argv);
	if (opt.json && opt.story)
		cli_usage("-j and -s exclude each other");
	if (opt.stuck_ns && (opt.open || opt.slowest))
		cli_usage("--stuck prints while the trace is read, --open and -n print at its end: one of them is "
			  "expected");
	return cli_operand(argc, argv, "one file of trace lines");
}

static void start(void)
{
	print.spans = &spans;
	print.connections = &connections;
	story_start(&story, &spans, &connections);
	spans.types = &types;
	spans.states = &states;
	spans.emit = print_span;
	/* span lines do not name connections */
	if (!opt.json)
		spans.entry = see_entry;
	if (opt.story)
		spans.held = keep_held;
	spans.stuck = opt.stuck_ns ? print_stuck : NULL;
	spans.stuck_ns = opt.stuck_ns;
	ranking.max = opt.slowest;
	spans_start(&spans);
	if (opt.open && !opt.json)
		print_open_header(&out);
	else if (!opt.json)
		print_header(&out);
}

/* Prints what was left out. Returns false if the input was empty, or if no span has a key of -k. */
static bool check(const struct lines *lines)
{
	const char *name = lines->name;
	bool good = lines->number || lines->is;

	if (!good)
		warnx("%s: empty: there are no trace lines", name);
	else if (!spans.n && !lines->faulty)
		cli_notice(opt.quiet, "%s: no line is about an object: there are no spans", name);
	cli_note(opt.quiet, name, cut_off, "spans are not ranked: their start is not in the trace");
	cli_note(opt.quiet, name, in_flight, "spans are not ranked: they were in flight at the end; see --open");
	cli_note(opt.quiet, name, spans.late, "entries left out: their spans had ended");
	cli_note(opt.quiet, name, spans.lifecycle.out_of_order,
		 "entries left out: each is earlier than the previous one of its object");
	cli_note(opt.quiet, name, spans.lifecycle.restarts, LIFECYCLE_RESTARTS);
	cli_note(opt.quiet, name, spans.beyond, "children or states left out: a span has more than are kept");
	cli_note(opt.quiet, name, spans.foreign,
		 "entries have no off_cpu and irq: the reactors of their lcores count for another source");
	cli_note(opt.quiet, name, spans.reactors.foreign,
		 "lines left out: another process, which came first, has reactors on their lcores");
	if (!spans.reactors.n)
		cli_note(opt.quiet, name, spans.reactors.others, "lines left out: their threads are not reactors");
	for (size_t i = 0; choose.num_compared && i < choose.keys.n; i++) {
		if (choose.keys.all[i].found)
			continue;
		warnx("%s: -k %s: no span has this key", name, choose.keys.all[i].key);
		good = false;
	}
	return good;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	int status = EXIT_SUCCESS;
	struct each_traceline lines;

	out_open(&out, STDOUT_FILENO);
	if (each_traceline_open(&lines, path, "trace-spans", &out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines.pause = pass;
	start();
	if (each_traceline_run(&lines, handle_line, NULL) != 0)
		status = EXIT_FAILURE;
	spans_end(&spans);
	ranking_write(&ranking, &out);
	if (!out.error && !check(&lines.lines))
		status = EXIT_FAILURE;
	spans_free(&spans);
	intern_free(&types);
	intern_free(&states);
	print_free(&print);
	choose_free(&choose);
	story_free(&story);
	connections_free(&connections);
	out_close(&text);
	return cli_close(&out, status);
}
