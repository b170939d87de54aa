/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-causes: says why slow requests are slow, over all requests of span lines: where their extra time is, what they
 * have in common, whom they waited for, and the cause, where the lines prove one.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "findings.h"
#include "interactive.h"
#include "io.h"
#include "keys.h"
#include "print.h"
#include "table.h"

/* Groups of -g that are explained: those with most time. Each costs as much as all requests. */
enum { GROUPS = 64 };

static struct {
	bool json, quiet;
	const char *against; /* a file, or NULL */
	struct compare_options compare;
	struct keys keys;
	struct print_options print;
} opt;

struct trace_causes {
	struct requests requests;
	struct blame blame;
	struct compare compare;
	struct out out;
	bool base; /* the lines are those of --against */
	struct group {
		uint32_t value; /* in names */
		unsigned __int128 ns;
	} * groups;
	size_t num_groups, cap_groups;
	struct map map;
};

/* The group of a request, which is the same for one without the key and one whose value is empty. */
static uint32_t add_group(struct trace_causes *t, const struct spanline *line, struct slice text)
{
	struct slice value = keys_value(text, slice_of(opt.print.group));
	uint32_t name = intern_add_below(&t->requests.names, value, REQUESTS_NAMES);
	struct group *group = table_put(&t->map, name, t->groups, t->num_groups, t->cap_groups);

	group->value = name;
	group->ns += line->life;
	return name;
}

static const char *read_line(void *context, struct slice text)
{
	struct trace_causes *t = context;
	struct requests_role role = {.group = MAP_NONE};
	struct spanline line;
	const char *error = spanline_parse(&line, text);

	if (error || line.has_parent)
		return error;
	if (line.admin) {
		t->requests.admin++;
		requests_learn(&t->requests, &line);
		return NULL;
	}
	/* it is not known what it waited for */
	if (line.lost) {
		t->requests.lost++;
		return NULL;
	}
	t->requests.open += line.open;
	role.base = t->base;
	role.wanted = keys_match(&opt.keys, text);
	if (opt.print.group)
		role.group = add_group(t, &line, text);
	requests_add(&t->requests, &line, role);
	return NULL;
}

static void add_key(const char *argument)
{
	if (!keys_add(&opt.keys, argument))
		cli_usage("-k '%s': KEY=GLOB is expected, such as args.qpair.hostnqn='*db-1'", argument);
}

static int by_time(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->value > y->value) - (x->value < y->value);
}

/* Explains all requests, or those of a group. */
static void explain(struct trace_causes *t)
{
	struct compare compare = {};
	struct findings findings = {};

	compare_run(&compare, &t->requests, &opt.compare);
	/* objects that are no requests of hosts have groups, too */
	if (opt.print.group && !compare.total) {
		compare_free(&compare);
		return;
	}
	findings_find(&findings, &t->blame, &compare);
	opt.print.value = opt.compare.group;
	(opt.json ? print_json : print_text)(&t->out, &findings, &t->blame, &compare, &opt.print);
	findings_free(&findings);
	compare_free(&compare);
}

static void explain_groups(struct trace_causes *t)
{
	if (t->num_groups)
		qsort(t->groups, t->num_groups, sizeof(*t->groups), by_time);
	for (size_t i = 0; i < t->num_groups && i < GROUPS; i++) {
		opt.compare.group = t->groups[i].value;
		explain(t);
	}
}

static int read_file(struct trace_causes *t, const char *path, struct lines *lines)
{
	struct interactive interactive;

	if (lines_open(lines, path) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines_expect(lines, KIND_SPANS, t->base ? "trace-causes --against -" : "trace-causes");
	interactive_start(&interactive, lines, &t->out);
	return lines_each(lines, read_line, t);
}

static void set_percent(const char *argument)
{
	char *end;

	opt.compare.percent = strtod(argument, &end);
	if (*end || !(opt.compare.percent > 0 && opt.compare.percent < 100))
		cli_usage("-p '%s': a number above 0 and below 100 is expected", argument);
}

static const struct cli_option options[] = {
	{0, "against", "FILE", "what makes requests slower than those in the span lines of an earlier trace",
	 .text = &opt.against},
	{'g', "group", "KEY", "explain the requests of each value of this key, such as connection, by themselves",
	 .text = &opt.print.group},
	{'j', "json", NULL, "one JSON object for each finding, the most important first", .flag = &opt.json},
	{'k', "key", "KEY=GLOB", "only requests with this value are to be explained; may be given more than once",
	 .call = add_key},
	{'m', "min-us", "US", "requests of at least US microseconds are slow", .us = &opt.compare.min_ns},
	{'n', "findings", "N", "print at most N findings of each group", .count = &opt.print.max},
	{0, "open", NULL, "requests in flight at the end of the trace as well, with their ages",
	 .flag = &opt.compare.open},
	{'p', "percent", "P", "the slowest P percent of comparable requests are slow", .call = set_percent},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print why the slow requests in the span lines of FILE are slow. Without FILE, or when it is -, read\n"
	"standard input.\n",
	"Examples:\n"
	"  trace-spans -j lines.jsonl | %s\n"
	"  trace-spans -j lines.jsonl | %s -k 'args.qpair.hostnqn=*db-1'\n"
	"  trace-spans -j lines.jsonl | %s -j -m 5000\n",
	.options = options,
};

/* Prints what was left out. Returns false if nothing was read. */
static bool check(const struct trace_causes *t, const struct lines *lines)
{
	const char *name = lines->name;

	if (!lines->number && !lines->failed) {
		warnx("%s: empty: there are no span lines", name);
		return false;
	}
	cli_note(opt.quiet, name, t->requests.admin, "admin request{|s} left out");
	if (!opt.compare.open)
		cli_note(opt.quiet, name, t->requests.open, "request{|s} in flight left out; see --open");
	cli_note(opt.quiet, name, t->requests.lost, "request{|s} left out: entries are missing in {it|them}");
	cli_note(opt.quiet, name, t->requests.dropped, "request{|s} left out: there are too many");
	cli_note(opt.quiet, name, t->num_groups > GROUPS ? t->num_groups - GROUPS : 0,
		 "group{|s} left out, with less time than the others");
	return keys_check(&opt.keys, name, t->requests.n);
}

static void check_options(void)
{
	if (opt.compare.percent && opt.compare.min_ns)
		cli_usage("-m and -p exclude each other");
	if (opt.against && (opt.compare.percent || opt.compare.min_ns || opt.compare.open))
		cli_usage("--against compares all requests: it cannot be combined with -m, -p or --open");
}

int main(int argc, char **argv)
{
	static struct trace_causes t;
	int status = EXIT_SUCCESS;
	struct lines lines;
	const char *path;

	cli_parse(&cli, argc, argv);
	check_options();
	path = cli_operand(argc, argv, "one file of span lines");
	if (opt.against && strcmp(opt.against, "-") == 0 && strcmp(path, "-") == 0)
		cli_usage("standard input can only be one of the files");
	out_open(&t.out, STDOUT_FILENO);
	t.base = opt.compare.against = opt.print.against = opt.against;
	if (opt.against && read_file(&t, opt.against, &lines) != 0)
		status = EXIT_FAILURE;
	t.base = false;
	if (read_file(&t, path, &lines) != 0)
		status = EXIT_FAILURE;
	if (!check(&t, &lines))
		status = EXIT_FAILURE;
	blame_start(&t.blame, &t.requests);
	opt.compare.has_group = opt.print.group;
	if (opt.print.group)
		explain_groups(&t);
	else
		explain(&t);
	blame_free(&t.blame);
	requests_free(&t.requests);
	free(t.groups);
	map_free(&t.map);
	keys_free(&opt.keys);
	return cli_close(&t.out, status);
}
