/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-causes: says why slow requests are slow, over all requests of a trace: where their extra time is, what they
 * have in common, whom they waited for, and the cause, where the lines prove one.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "answer.h"
#include "cli.h"
#include "each_traceline.h"
#include "findings.h"
#include "inflight.h"
#include "io.h"
#include "joining.h"
#include "json.h"
#include "keys.h"
#include "measure.h"
#include "mem.h"
#include "rows.h"

/* Groups of -g that are printed: those with most time. */
enum { GROUPS = 64 };

static struct {
	bool json, ledger, quiet;
	const char *against; /* a file, or NULL */
	struct measure_options measure;
	struct keys keys;
	struct joining joining;
	struct answer_options print;
} opt = {.measure.compare.budget_ns = FLOOR_DEVICE_NS};

struct trace_causes {
	struct spanline line;     /* of span lines */
	struct measured measured; /* of trace lines */
	struct requests requests;
	struct tally tally;
	bool base;      /* the lines are those of --against */
	bool has_group; /* a request has the key of -g */
};

/* value: of -g; the group is the same for a request without the key and one whose value is empty. */
static void add(struct trace_causes *t, const struct spanline *line, bool wanted, struct slice value)
{
	struct requests_role role = {wanted, t->base, MAP_NONE};

	t->has_group |= value.n;
	if (opt.print.group)
		role.group = intern_add_below(&t->requests.names, json_unquoted(value), REQUESTS_NAMES);
	requests_add(&t->requests, line, role);
}

static const char *read_span_line(void *context, struct slice text)
{
	struct trace_causes *t = context;
	const char *error = spanline_parse(&t->line, text);

	if (!error && requests_see(&t->requests, &t->line)) {
		bool wanted = keys_match_line(&opt.keys, text);

		add(t, &t->line, wanted,
		    opt.print.group ? keys_value(text, slice_of(opt.print.group)) : (struct slice){});
	}
	return error;
}

static const char *read_trace_line(void *context, struct traceline *line, struct slice text)
{
	struct trace_causes *t = context;

	(void)text;
	return spans_line(&t->measured.spans, line);
}

static void see_span(void *context, const struct span *s)
{
	struct trace_causes *t = context;
	const struct spanline *line;

	if (s->has_parent)
		return;
	measured_span(&t->measured, s);
	line = measured_line(&t->measured, MEASURED_WAITS);
	if (requests_see(&t->requests, line)) {
		bool wanted = keys_match(&opt.keys, &t->measured);

		add(t, line, wanted,
		    opt.print.group ? measured_value(&t->measured, slice_of(opt.print.group)) : (struct slice){});
	}
}

static void add_key(const char *argument)
{
	const char *error = keys_add(&opt.keys, argument);

	if (error)
		cli_usage("-k '%s': %s", argument, error);
}

static void set_group(const char *key)
{
	if (!spanline_is_key(slice_of(key)))
		cli_usage("-g '%s': %s", key, SPANLINE_NO_KEY);
	opt.print.group = key;
}

/* The group with most time first; its name decides between equal ones. */
static int by_time(const void *a, const void *b, void *context)
{
	const struct tally_group *x = *(const struct tally_group *const *)a, *y = *(const struct tally_group *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return tally_compare_names(context, x->name, y->name);
}

static void print(struct out *out, struct tally *t)
{
	const struct tally_group **sorted = mem_array(t->num_groups, sizeof(*sorted));

	for (size_t i = 0; i < t->num_groups; i++)
		sorted[i] = &t->groups[i];
	qsort_r(sorted, t->num_groups, sizeof(*sorted), by_time, t);
	for (size_t i = 0; i < t->num_groups && i < GROUPS; i++) {
		struct findings findings = {};

		if (!opt.print.against) {
			findings.least_ns = FLOOR_ROUND_TRIP_NS;
			findings.budget_ns = opt.measure.compare.budget_ns;
		}
		findings_find(&findings, t, sorted[i]);
		(opt.json ? answer_json : answer_write)(out, &findings, &opt.print);
		findings_free(&findings);
	}
	free(sorted);
}

/* What hangs comes first. */
static void print_hang(struct out *out, const struct trace_causes *t)
{
	struct inflight f;

	inflight_find(&f, &t->requests, 0);
	inflight_unseen(&f, &t->measured.behind);
	if (opt.json && inflight_hangs(&f)) {
		out_char(out, '{');
		inflight_write_json(out, &f);
		out_text(out, "}\n");
	} else if (!opt.json && (f.is_older || f.unseen)) {
		inflight_write(out, &f, INFLIGHT_GROUPS, slice_of(""));
		out_char(out, '\n');
	}
}

/* Reads span lines, or assembles the spans of a trace. */
static int read_file(struct trace_causes *t, const char *path, struct each_traceline *file, struct out *out)
{
	struct measured_note notes[MEASURED_NOTES];
	int result;

	if (each_traceline_open(file, path, t->base ? "trace-causes --against -" : "trace-causes", out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	file->span_line = read_span_line;
	file->quiet = opt.quiet;
	if (!t->base)
		file->joining = &opt.joining;
	measured_free(&t->measured);
	t->measured = (struct measured){.explains = true, .context = t, .emit = see_span};
	measured_start(&t->measured);
	result = each_traceline_run(file, read_trace_line, t);
	measured_end(&t->measured);
	measured_notes(&t->measured, notes);
	for (unsigned i = 0; i < MEASURED_NOTES; i++)
		cli_note(opt.quiet, file->lines.name, notes[i].n, notes[i].what);
	return result;
}

static const struct cli_option options[] = {
	{0, "against", "FILE", "what makes requests slower than those in the lines of an earlier trace",
	 .text = &opt.against},
	{0, "budget", "US", "a bdev that takes US microseconds longer is slow (default: 500)",
	 .us = &opt.measure.compare.budget_ns},
	{'g', "group", "KEY", "explain the requests of each value of this key, such as host, by themselves",
	 .call = set_group},
	{'j', "json", NULL, "one JSON object for each finding, the most important first", .flag = &opt.json},
	{'k', "key", "KEY=GLOB", "only requests with this value are to be explained; may be given more than once",
	 .call = add_key},
	JOINING_OPTION(opt.joining),
	{0, "ledger", NULL, "instead, whose time it was: rows that add up to the lives of all requests, slow or not",
	 .flag = &opt.ledger},
	{'m', "min-us", "US", "requests of at least US microseconds are slow", .us = &opt.measure.compare.min_ns},
	{0, "open", NULL, "requests in flight at the end of the trace as well, with their ages",
	 .flag = &opt.measure.open},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print why the slow requests in FILE, a trace file, trace lines or span lines, are slow. Without FILE, or\n"
	"when it is -, read standard input.\n",
	"Examples:\n"
	"  %s -l lifetimes.txt nvmf_trace.pid1234\n"
	"  %s -k host=db-1 lines.jsonl\n"
	"  trace-spans -j lines.jsonl | %s -j -m 5000\n"
	"  %s --ledger trace | awk -F'\\t' '{ sum[$8] += $1 } END { for (r in sum) print sum[r], r }'\n",
	.options = options,
	.former = (const struct cli_former[]){TERMINAL_FORMER,
					      {0, "percent", "is gone: -m US, such as a p99 of trace-latency, says it"},
					      {}},
};

/* Prints what was left out of a tally. */
static void note_dropped(const struct tally *t, const char *name)
{
	cli_note(opt.quiet, name, t->groups_dropped, "group{|s} left out, with less time than the others");
	cli_note(opt.quiet, name, t->dropped, TALLY_DROPPED);
	cli_note(opt.quiet, name, t->older, TALLY_OLDER);
}

/* Whether a request has the key of -g, and one matches -k; prints a message if not. */
static bool check_keys(const struct trace_causes *t, const char *name)
{
	const char *missing = keys_missing(&opt.keys);
	bool good = !opt.keys.n || opt.keys.matched || !t->requests.n;

	if (!good && missing)
		warnx("%s: -k %s: no request has this key", name, missing);
	else if (!good)
		warnx("%s: none of %" PRIu64 " requests matches -k", name, t->requests.n);
	if (!opt.print.group || t->has_group || !t->requests.n)
		return good;
	warnx("%s: -g %s: no request has this key", name, opt.print.group);
	return false;
}

/* Prints what was left out. Returns false if nothing was read. */
static bool check(const struct trace_causes *t, const struct lines *lines)
{
	const char *name = lines->name;

	if (!lines->number && !lines->failed) {
		warnx("%s: empty: there are neither trace lines nor span lines", name);
		return false;
	}
	cli_note(opt.quiet, name, t->requests.admin, "admin request{|s} left out");
	if (!opt.measure.open && !opt.ledger)
		cli_note(opt.quiet, name, t->requests.open, "request{|s} in flight left out; see --open");
	cli_note(opt.quiet, name, t->requests.lost, "request{|s} left out: entries are missing in {it|them}");
	cli_note(opt.quiet, name, t->requests.dropped, REQUESTS_DROPPED);
	return check_keys(t, name);
}

static void check_options(void)
{
	const struct compare_options *compare = &opt.measure.compare;

	if (opt.ledger && (compare->min_ns || compare->budget_ns != FLOOR_DEVICE_NS || opt.print.group || opt.against ||
			   opt.measure.open))
		cli_usage(
			"--ledger has all requests: it cannot be combined with --against, --budget, -g, -m or --open");
	if (opt.against && (compare->budget_ns != FLOOR_DEVICE_NS || compare->min_ns || opt.measure.open))
		cli_usage("--against compares all requests: it cannot be combined with --budget, -m or --open");
}

static void print_causes(struct out *out, struct trace_causes *t, const char *name)
{
	measure_trace(&t->tally, &t->requests, &opt.measure);
	note_dropped(&t->tally, name);
	print_hang(out, t);
	print(out, &t->tally);
}

static void print_ledger(struct out *out, struct trace_causes *t, const char *name)
{
	measure_ledger(&t->tally, &t->requests);
	note_dropped(&t->tally, name);
	rows_write(out, &t->tally, &t->requests, opt.json);
}

/* Returns the exit status. */
static int explain(struct out *out, const char *path)
{
	static struct trace_causes t;
	int status = EXIT_SUCCESS;
	struct each_traceline file;

	t.base = opt.measure.compare.against = opt.print.against = opt.against;
	if (opt.against && read_file(&t, opt.against, &file, out) != 0)
		status = EXIT_FAILURE;
	t.base = false;
	if (read_file(&t, path, &file, out) != 0 || !check(&t, &file.lines))
		status = EXIT_FAILURE;
	opt.measure.group = opt.print.group;
	opt.measure.max_groups = GROUPS;
	t.tally.names = &t.requests.names;
	/* of what was refused, there is no answer */
	if (status == EXIT_SUCCESS || (opt.keys.n ? opt.keys.matched : t.requests.n))
		(opt.ledger ? print_ledger : print_causes)(out, &t, file.lines.name);
	tally_free(&t.tally);
	requests_free(&t.requests);
	measured_free(&t.measured);
	spanline_free(&t.line);
	return status;
}

int main(int argc, char **argv)
{
	static struct out out;
	const char *path;
	int status;

	cli_parse(&cli, argc, argv);
	check_options();
	opt.print.terminal = terminal_open();
	out_open(&out, STDOUT_FILENO);
	path = cli_operand(argc, argv, JOINING_OPERAND);
	if (joining_share_stdin(&opt.joining, path) ||
	    (opt.against && strcmp(opt.against, "-") == 0 && strcmp(path, "-") == 0))
		cli_usage("standard input can only be one of the files");
	if (joining_read(&opt.joining, "trace-causes -l - TRACE") != 0)
		exit(EXIT_FAILURE);
	status = explain(&out, path);
	keys_free(&opt.keys);
	joining_free(&opt.joining);
	return cli_close(&out, status);
}
