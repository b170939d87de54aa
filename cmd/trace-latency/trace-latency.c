/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-latency: follows the objects of a trace, such as requests, from state to state and prints
 * how long they stayed in each. It keeps histograms, which can be written as lines, added up by
 * another trace-latency, and compared with those of an earlier run.
 *
 * Times are whole nanoseconds, the unit of `us` in trace lines, because the lines have no rate of
 * the ticks. So sums are exact, and the parts of a life add up to the whole.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "encode.h"
#include "group.h"
#include "io.h"
#include "measure.h"
#include "mem.h"
#include "out.h"
#include "print.h"
#include "threshold.h"

enum { EXIT_WORSE = 3 };

static struct {
	enum { TABLE, JSON, HISTOGRAMS, ENCODED } output;
	bool merge, related, quiet;
	uint64_t interval; /* ns; 0: none */
	const char *base;  /* file to compare with, or NULL */
	struct threshold threshold;
	struct group group;
} opt = {.group.text.fd = OUT_MEMORY};

/* The rows of the earlier run. */
static struct rows base;

/* For rows of --merge, and of measure_lines(). */
static void print(const struct rows *rows, struct out *out)
{
	const struct rows *against = opt.base ? &base : NULL;

	if (opt.output == ENCODED)
		encode_write(out, rows);
	else if (opt.output == JSON)
		print_json(out, rows, against);
	else if (opt.output == HISTOGRAMS)
		print_histograms(out, rows);
	else
		print_table(out, rows, against);
}

static void note(const char *name, uint64_t n, const char *what)
{
	if (n)
		cli_notice(opt.quiet, "%s: %" PRIu64 " %s", name, n, what);
}

/* Says once what could not be measured. */
static void print_notes(const struct measure *m, const char *name)
{
	const struct lifecycle *l = &m->lifecycle;

	note(name, l->no_creation, "objects left out: their creation is not in the trace");
	note(name, m->in_work, "objects have no whole life: they were in work at the end");
	note(name, m->single_entry, "objects have no whole life: their creation is their only entry");
	note(name, m->late,
	     "whole lives are in a later interval than their last entry, which was not known to be the last");
	note(name, m->cut_short,
	     "whole lives are cut short: what seemed to be the last entry of their objects was not");
	note(name, l->out_of_order, "entries left out: they are earlier than the one before them of their object");
	note(name, l->restarts,
	     "objects are created before the last entry at their address: the lines come from several "
	     "traces, or are not in order");
}

/* Whether there are rows; says so when not. For a mapper (-e), no rows are no error. */
static bool say_if_none(const struct rows *rows, const char *name, const char *what)
{
	if (rows->n)
		return true;
	if (opt.output == ENCODED)
		cli_notice(opt.quiet, "%s: %s", name, what);
	else
		warnx("%s: %s", name, what);
	return opt.output == ENCODED;
}

/* Whether there is something to print, and all keys of -g were there; says so when not. */
static bool check_measured(const struct measure *m, const char *name)
{
	bool good = say_if_none(&m->rows, name,
				m->lines ? "no object was seen in two states: nothing to measure"
					 : "empty: there are no trace lines");

	for (size_t i = 0; m->rows.groups.n && i < opt.group.n; i++) {
		if (opt.group.keys[i].found)
			continue;
		warnx("%s: -g %s: no line that creates an object has this key; keys are those of the lines, such as "
		      "lcore, owner, or args.qpair.hostnqn after trace-join -j -l",
		      name, opt.group.keys[i].name);
		good = false;
	}
	return good;
}

/* Returns 0, or -1 when something was wrong with the input. */
static int measure(struct measure *m, const char *path)
{
	const char *name = io_name(path);
	int status;

	m->related = opt.related;
	m->interval = opt.interval;
	m->group = &opt.group;
	m->print = print;
	status = measure_lines(m, path);
	print_notes(m, name);
	/* what is wrong with the input explains the rest */
	return status == 0 && !check_measured(m, name) ? -1 : status;
}

static void add_group(const char *key)
{
	opt.group.keys = mem_room(opt.group.keys, opt.group.n, &opt.group.cap);
	opt.group.keys[opt.group.n++] = (struct group_key){.name = key};
}

static void set_threshold(const char *text)
{
	if (!threshold_parse(text, &opt.threshold))
		cli_usage("--fail-over '%s': a percentile and percent are expected, such as p99:10", text);
}

static const struct cli_option options[] = {
	{'g', "group", "KEY", "a table for each value of this key of the lines; may be given more than once",
	 .call = add_group},
	{'r', "related", NULL, "entries of related objects are states of the object they are related to",
	 .flag = &opt.related},
	{'i', "interval", "SEC", "a table for every SEC seconds of the trace", .seconds = &opt.interval},
	{'H', "histogram", NULL, "histograms of powers of two instead of a table", .choice = &opt.output, HISTOGRAMS},
	{'j', "json", NULL, "JSON lines instead of a table", .choice = &opt.output, JSON},
	{'e', "encode", NULL, "lines that --merge adds up and --against reads", .choice = &opt.output, ENCODED},
	{0, "merge", NULL, "FILE has such lines, of any number of runs in any order", .flag = &opt.merge},
	{0, "against", "FILE", "show how much larger times are than in these encoded lines", .text = &opt.base},
	{0, "fail-over", "P:N", "exit 3 when percentile P, such as p99, of a row is more than N percent larger",
	 .call = set_threshold},
	{'q', "quiet", NULL, "no notes about what was left out", .flag = &opt.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print how long the objects in the trace lines of FILE, such as requests, stayed in each state and lived in\n"
	"all; without FILE, or when it is -, those of standard input.\n",
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | trace-latency\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | trace-latency -g args.qpair.hostnqn\n"
	"  trace-latency -e trace.jsonl > today.txt\n"
	"  trace-latency --merge --against yesterday.txt --fail-over p99:10 today.txt\n",
	options,
};

static void check_options(void)
{
	if (opt.merge && (opt.group.n || opt.related || opt.interval))
		cli_usage("-g, -i and -r are for trace lines: they were decided when the lines were encoded");
	if (opt.base && opt.output != TABLE && opt.output != JSON)
		cli_usage("--against is for a table or -j");
	if (opt.interval && (opt.base || opt.output == ENCODED))
		cli_usage("-i does not go with -e and --against");
	if (opt.threshold.percentile && !opt.base)
		cli_usage("--fail-over needs --against");
}

/* Returns the path of the input. */
static const char *parse_options(int argc, char **argv)
{
	const char *path;

	cli_parse(&cli, argc, argv);
	check_options();
	path = cli_operand(argc, argv, opt.merge ? "one file of encoded lines" : "one file of trace lines");
	if (opt.base && strcmp(opt.base, "-") == 0 && strcmp(path, "-") == 0)
		cli_usage("standard input can only be one of the files");
	return path;
}

/* Says how many rows of the base this run does not have. */
static void note_gone(const struct rows *rows)
{
	uint64_t gone = 0;

	for (size_t i = 0; i < base.num_filled; i++)
		gone += !rows_find(rows, &base, base.filled[i]);
	note(io_name(opt.base), gone, "rows are not in this run");
}

/* Reads encoded lines. Returns 0, or -1 when something was wrong with them. */
static int read_encoded(struct rows *rows, const char *path, const char *reader)
{
	if (encode_read(rows, path, reader) != 0)
		return -1;
	return say_if_none(rows, io_name(path), "empty: there are no encoded lines") ? 0 : -1;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	static struct measure m;
	int status = EXIT_SUCCESS;
	struct out out;

	out_open(&out, STDOUT_FILENO);
	m.out = &out;
	if (opt.base && read_encoded(&base, opt.base, "trace-latency --against -") != 0)
		status = EXIT_FAILURE;
	if ((opt.merge ? read_encoded(&m.rows, path, "trace-latency --merge") : measure(&m, path)) != 0)
		status = EXIT_FAILURE;
	print(&m.rows, &out);
	if (opt.base)
		note_gone(&m.rows);
	if (opt.threshold.percentile && threshold_report(&opt.threshold, &m.rows, &base, io_name(opt.base)) && !status)
		status = EXIT_WORSE;
	measure_free(&m);
	rows_free(&base);
	free(opt.group.keys);
	out_close(&opt.group.text);
	return cli_close(&out, status);
}
