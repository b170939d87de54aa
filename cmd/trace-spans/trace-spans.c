/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-spans: prints one line per span. A span is the life of an object of a trace, such as a request:
 * what it was, which states it passed through, and where its time went. trace-spans can print only the
 * slowest spans or those in flight, and the story of each: all entries with the time between them.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "each_traceline.h"
#include "io.h"
#include "joining.h"
#include "json.h"
#include "keys.h"
#include "print.h"
#include "proofs.h"
#include "ranking.h"
#include "spans.h"
#include "story.h"
#include "terminal.h"

static struct {
	bool all, admin, json, open, story, quiet;
	uint64_t min_ns, slowest, stuck_ns;
	struct keys keys;
	struct joining joining;
} opt;

struct trace_spans {
	struct measured measured;
	struct print print;
	struct ranking ranking;
	struct story story;
	struct out out, text;
	unsigned idle_ticks;             /* since the last line */
	uint64_t admin;                  /* requests that were left out */
	uint64_t seen;                   /* spans that were compared with the options */
	bool matched;                    /* one of them matches -k */
	enum { LIST = 1, OPEN } heading; /* the latest one that was printed; 0: none */
	bool has_story;                  /* one was printed */
};

/* Headings of stories are part of them, as each is read by itself. */
static void put_heading(struct trace_spans *t, struct out *out, bool in_progress)
{
	unsigned heading = in_progress ? OPEN : LIST;

	if (opt.json || (t->heading == heading && !opt.story))
		return;
	print_heading(&t->print, out, in_progress);
	t->heading = heading;
}

/* Puts a span into text: its line, and its story. */
static struct slice text_of(struct trace_spans *t, const struct span *s, bool in_progress)
{
	t->text.len = 0;
	put_heading(t, &t->text, in_progress);
	if (opt.json) {
		measured_span(&t->measured, s);
		spanline_write(&t->text, measured_line(&t->measured, MEASURED_WAITS | MEASURED_TEXTS));
	} else if (in_progress)
		print_open(&t->print, &t->text, s);
	else
		print_text(&t->print, &t->text, s);
	if (opt.story)
		story_write(&t->story, &t->text, s);
	return out_contents(&t->text);
}

static bool matches(struct trace_spans *t, const struct span *s)
{
	if (!opt.keys.n)
		return true;
	measured_span(&t->measured, s);
	return keys_match(&opt.keys, &t->measured);
}

/* Whether the span matches all options. */
static bool is_wanted(struct trace_spans *t, const struct span *s)
{
	struct slice by, of;
	uint64_t ns = life_ns(&t->measured.spans, s) + measured_unread(&t->measured, s, &by, &of);
	bool wanted = ns >= opt.min_ns && (!opt.open || s->end.open);

	if (s->has_parent && !opt.all)
		return false;
	/* a span that was stuck comes here twice */
	t->seen += s->end.emitted;
	/* until one matches -k, the others are compared as well: if none does, it is wrong */
	if ((!wanted && t->matched) || !matches(t, s))
		return false;
	t->matched = true;
	return wanted;
}

static void rank_span(struct trace_spans *t, const struct span *s, uint64_t key)
{
	if (ranking_wants(&t->ranking, key))
		ranking_add(&t->ranking, key, text_of(t, s, opt.open));
}

/* Whether a span belongs to an admin request that is to be left out, which is counted. */
static bool is_left_out(struct trace_spans *t, const struct span *s)
{
	bool marked = opt.json && !opt.open && !opt.slowest && !opt.stuck_ns;

	if (opt.admin || marked || !admin_has(s))
		return false;
	t->admin += !s->has_parent;
	return true;
}

/* An empty line separates stories. */
static void emit(struct trace_spans *t, struct slice text)
{
	if (opt.story && t->has_story)
		out_char(&t->out, '\n');
	t->has_story = opt.story;
	out_slice(&t->out, text);
}

static void print_span(void *context, const struct span *s)
{
	struct trace_spans *t = context;
	uint64_t ns = life_ns(&t->measured.spans, s);

	if (!is_wanted(t, s) || is_left_out(t, s) || (s->end.open && s->end.stuck))
		return;
	if (!opt.open && !opt.slowest)
		emit(t, text_of(t, s, false));
	else if (opt.open && admin_is_possible(&t->measured.spans.admin, s))
		/* it is old, and no trouble as a rule */
		rank_span(t, s, 0);
	else
		rank_span(t, s, ns);
}

static void print_stuck(void *context, const struct span *s)
{
	struct trace_spans *t = context;

	if (is_wanted(t, s) && (opt.admin || !admin_has(s)))
		emit(t, text_of(t, s, true));
}

static void tell_entry(void *context, struct span *s, uint32_t before, const struct traceline *line,
		       uint32_t connection, size_t named)
{
	struct trace_spans *t = context;

	story_add(&t->story, s, before, line, connection, named);
}

static const char *handle_line(void *context, struct traceline *line, struct slice entry)
{
	struct trace_spans *t = context;
	const char *error;

	(void)entry;
	t->idle_ticks = 0;
	error = spans_line(&t->measured.spans, line);
	/* what is refused as a whole has none */
	if (!error && !t->heading && !opt.story)
		put_heading(t, &t->out, opt.open);
	return error;
}

/* No line has come for a tick. With --stuck, trace time advances; else spans in final states end after a second. */
static void pass(void *context)
{
	enum { TICKS = 1000 / INTERACTIVE_TICK_MS };
	struct trace_spans *t = context;

	t->idle_ticks++;
	if (opt.stuck_ns)
		spans_pass(&t->measured.spans, t->measured.spans.now + INTERACTIVE_TICK_MS * 1000000);
	else if (t->idle_ticks == TICKS)
		spans_pause(&t->measured.spans);
}

static void add_key(const char *argument)
{
	const char *error = keys_add(&opt.keys, argument);

	if (error)
		cli_usage("-k '%s': %s", argument, error);
	opt.admin |= strncmp(argument, "admin=", 6) == 0;
}

static const struct cli_option options[] = {
	{'a', "all", NULL, "spans that have a parent as well", .flag = &opt.all},
	{0, "admin", NULL, "admin requests as well; they have queue 0", .flag = &opt.admin},
	{0, "human", NULL, "the table of a terminal, wherever it goes", .call = terminal_human},
	{'j', "json", NULL, "span lines, one JSON object for each span, instead of text", .flag = &opt.json},
	{'k', "key", "KEY=GLOB", "only spans with this value, such as host=db-1; may be given more than once",
	 .call = add_key},
	JOINING_OPTION(opt.joining),
	{'m', "min-us", "US", "only spans of at least US microseconds", .us = &opt.min_ns},
	{'n', "slowest", "N", "only the N slowest spans, the slowest first", .count = &opt.slowest},
	{0, "open", NULL, "only spans in flight at the end of the trace, the oldest first", .flag = &opt.open},
	{0, "plain", NULL, "the table of a pipe: all columns, tabs between them, times in microseconds",
	 .call = terminal_tabs},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{'s', "story", NULL, "after each span all its entries, with the time before each", .flag = &opt.story},
	{0, "stuck", "US", "also spans in flight for US microseconds, as soon as they are", .us = &opt.stuck_ns},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print one line for each request in FILE, a trace file or trace lines, or other object that nothing in\n"
	"the trace has started: what it was, and where its time went. Without FILE, or when it is -, read\n"
	"standard input.\n",
	"Examples:\n"
	"  %s -l lifetimes.txt -n 10 nvmf_trace.pid1234\n"
	"  %s --open nvmf_trace.pid1234\n"
	"  trace-dump -F -p 1234 | %s -m 5000 -s --stuck 1000000\n",
	.options = options,
	.former = (const struct cli_former[]){{'t', "tpoint", "is gone: -j | grep '\"BDEV_IO_DONE\"' chooses by state"},
					      {'w', "owner", "is gone: -k owner=GLOB chooses by owner"},
					      {0, "wide", "is now --plain"},
					      TERMINAL_FORMER,
					      {}},
};

/* Returns the path of the trace lines. */
static const char *parse_options(int argc, char **argv)
{
	const char *path;

	cli_parse(&cli, argc, argv);
	if (opt.json && opt.story)
		cli_usage("-j and -s exclude each other");
	if (opt.stuck_ns && (opt.open || opt.slowest))
		cli_usage("--stuck prints while the trace is read, --open and -n print at its end: one of them is "
			  "expected");
	path = cli_operand(argc, argv, JOINING_OPERAND);
	if (joining_share_stdin(&opt.joining, path))
		cli_usage("standard input can only be one of the files");
	return path;
}

static void start(struct trace_spans *t)
{
	struct measured *m = &t->measured;

	t->text.fd = OUT_MEMORY;
	t->print.measured = m;
	t->print.terminal = terminal_open();
	/* stories are for people, wherever they go */
	t->print.terminal.plain &= !opt.story;
	t->print.is_title = opt.story;
	m->explains = opt.json || opt.story || opt.open || opt.stuck_ns;
	m->context = t;
	m->emit = print_span;
	m->stuck = opt.stuck_ns ? print_stuck : NULL;
	m->entry = opt.story ? tell_entry : NULL;
	m->spans.stuck_ns = opt.stuck_ns;
	measured_start(m);
	if (opt.story)
		story_start(&t->story, m, &t->print.terminal);
	t->ranking.max = opt.slowest;
	t->ranking.between = opt.story ? "\n" : "";
}

/* Whether some span matches -k; prints a message if not. */
static bool check_chosen(const struct trace_spans *t, const char *name)
{
	const char *missing = keys_missing(&opt.keys);

	if (t->matched || !t->seen)
		return true;
	if (missing)
		warnx("%s: -k %s: no span has this key", name, missing);
	else
		/* a live trace could have had matching spans later */
		cli_notice(opt.quiet && opt.stuck_ns, "%s: none of %" PRIu64 " spans matches -k", name, t->seen);
	return !missing && opt.stuck_ns;
}

/* Prints what was left out. Returns false if the input was empty, or if no span matches the options. */
static bool check(const struct trace_spans *t, const struct lines *lines)
{
	struct measured_note notes[MEASURED_NOTES];
	const char *name = lines->name;
	bool good = lines->number || lines->failed;

	if (!good)
		warnx("%s: empty: there are no trace lines", name);
	else if (!t->measured.spans.store.n && !lines->faulty && !lines->failed)
		cli_notice(opt.quiet, "%s: no line belongs to a request or I/O", name);
	cli_note(opt.quiet, name, t->admin, ADMIN_LEFT_OUT);
	cli_note(opt.quiet, name, t->measured.spans.admin.possible, ADMIN_POSSIBLE);
	if (seen_why_below(&t->measured.spans.seen))
		cli_notice(opt.quiet, "%s: %s", name, seen_why_below(&t->measured.spans.seen));
	measured_notes(&t->measured, notes);
	for (unsigned i = 0; i < MEASURED_NOTES; i++)
		cli_note(opt.quiet, name, notes[i].n, notes[i].what);
	if (!t->measured.spans.reactors.n)
		cli_note(opt.quiet, name, t->measured.spans.reactors.others,
			 "{line left out: its thread is no reactor|lines left out: their threads are not reactors}");
	return check_chosen(t, name) && good;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	static struct trace_spans t;
	int status = EXIT_SUCCESS;
	struct each_traceline lines;

	if (joining_read(&opt.joining, "trace-spans -l - TRACE") != 0)
		exit(EXIT_FAILURE);
	out_open(&t.out, STDOUT_FILENO);
	if (each_traceline_open(&lines, path, "trace-spans", &t.out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines.pause = pass;
	lines.quiet = opt.quiet;
	lines.joining = &opt.joining;
	start(&t);
	if (each_traceline_run(&lines, handle_line, &t) != 0)
		status = EXIT_FAILURE;
	measured_end(&t.measured);
	ranking_write(&t.ranking, &t.out);
	if (!t.out.error && !check(&t, &lines.lines))
		status = EXIT_FAILURE;
	story_free(&t.story);
	measured_free(&t.measured);
	print_free(&t.print);
	keys_free(&opt.keys);
	out_close(&t.text);
	return cli_close(&t.out, status);
}
