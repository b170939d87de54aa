/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-latency: follows the objects of a trace, such as requests, from state to state and prints
 * how long they stayed in each. It keeps histograms, which can be written as lines, added up by
 * another trace-latency, and compared with those of an earlier run.
 *
 * Times are whole nanoseconds, the resolution of `us` in trace lines, because the lines have no rate
 * of the ticks. So sums are exact, and the parts of a life add up to the whole.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "encode.h"
#include "group.h"
#include "io.h"
#include "mem.h"
#include "openmetrics.h"
#include "out.h"
#include "print.h"
#include "threshold.h"
#include "trees.h"

enum { EXIT_WORSE = 3 };

static struct {
	enum { TABLE, JSON, HISTOGRAMS, ENCODED, OPENMETRICS } output;
	enum { TIMES, SHARES, RATES, REACTORS } what; /* is measured */
	bool merge, related, admin, quiet, wide;
	uint64_t interval; /* ns; 0: none */
	const char *base;  /* file to compare with, or NULL */
	struct threshold threshold;
	const char **keys; /* of -g */
	size_t num_keys, cap_keys;
} opt;

struct run {
	struct rows rows;
	struct rows base; /* of the earlier run */
	/* instead of rows, of --layers, --rates and --reactors */
	struct shares shares;
	struct rates rates;
	struct lcore_rows lcores;
	struct group group;
	struct trees trees;
	struct terminal terminal;
	struct out out;
};

static void print_lcores(struct run *run)
{
	const struct rows_interval *interval = &run->rows.interval;
	const struct spans *spans = &run->trees.spans;

	lcore_rows_print(&run->lcores, &run->out, spans, opt.interval && !spans->over ? interval->to : UINT64_MAX,
			 interval, opt.output == JSON ? NULL : &run->terminal);
}

static void print_rates(struct run *run)
{
	uint64_t elapsed = trees_elapsed(&run->trees), slot = trees_slot(&run->trees);

	if (opt.output == JSON)
		rates_print_json(&run->out, &run->rates, &run->rows, elapsed, slot);
	else
		rates_print_table(&run->out, &run->rates, &run->rows, elapsed, slot, &run->terminal);
}

/* Prints what was measured, in all or in an interval. */
static void print(void *context)
{
	struct run *run = context;
	const struct rows *base = opt.base ? &run->base : NULL;

	if (opt.what == REACTORS)
		print_lcores(run);
	else if (opt.what == RATES)
		print_rates(run);
	else if (opt.what == SHARES && opt.output == JSON)
		shares_print_json(&run->out, &run->shares, &run->rows);
	else if (opt.what == SHARES)
		shares_print_table(&run->out, &run->shares, &run->rows, &run->terminal);
	else if (opt.output == ENCODED)
		encode_write(&run->out, &run->rows);
	else if (opt.output == OPENMETRICS)
		openmetrics_write(&run->out, &run->rows, run->trees.wall);
	else if (opt.output == JSON)
		print_json(&run->out, &run->rows, base);
	else if (opt.output == HISTOGRAMS)
		print_histograms(&run->out, &run->rows, &run->terminal);
	else
		print_table(&run->out, &run->rows, base, &run->terminal);
}

/* Whether the requests that are not whole are left out of what is measured. */
static bool leaves_out(void)
{
	return opt.what == SHARES;
}

/*
 * Prints how many requests are missing, if they are left out or one of them is the slowest. Other notes count all
 * objects.
 */
static void note_incomplete(const struct trees *t, const char *name)
{
	bool is_slowest = t->longest > t->longest_life;
	struct out text = {.fd = OUT_MEMORY};

	if (opt.quiet || !t->incomplete || (!is_slowest && !leaves_out()))
		return;
	out_duration_text(&text, t->longest);
	cli_count(false, t->incomplete,
		  "%s: %" PRIu64
		  " request{|s} %s: {it|they} started before the trace, or {was|were} in progress at its end; "
		  "{it|one of them} took longer than %.*s: trace-spans -n shows {it|them}",
		  name, t->incomplete,
		  leaves_out()         ? "left out"
		  : t->incomplete == 1 ? "has no whole life"
				       : "have no whole life",
		  (int)text.len, text.buf);
	out_close(&text);
}

/* How many requests a tool does not cover whose lines are among the others. */
static uint64_t uncovered(const struct trees *t, enum spans_tool tool)
{
	return t->spans.recordings[tool].any ? t->shared - t->covered[tool] : 0;
}

/* Prints notes about what could not be measured. */
static void print_notes(const struct trees *t, const char *name)
{
	const struct lifecycle *l = &t->spans.lifecycle;

	cli_note(opt.quiet, name, t->left_out, ADMIN_LEFT_OUT);
	cli_note(opt.quiet, name, t->spans.admin.possible, ADMIN_POSSIBLE);
	if (opt.what == SHARES && spans_why_below(&t->spans))
		cli_notice(opt.quiet, "%s: %s", name, spans_why_below(&t->spans));
	if (opt.what == TIMES || leaves_out())
		note_incomplete(t, name);
	cli_note(opt.quiet, name, uncovered(t, SPANS_OFFCPUSNOOP),
		 "request{ is|s are} not within the recording of offcpusnoop: off_cpu and irq are those of the others");
	cli_note(opt.quiet, name, uncovered(t, SPANS_BIOSNOOP),
		 "request{ is|s are} not within the recording of biosnoop: disk is that of the others");
	if (!leaves_out())
		cli_note(opt.quiet, name, t->unknown, "object{|s} left out: {its|their} creation is not in the trace");
	if (opt.what == TIMES)
		cli_note(opt.quiet, name, t->in_progress,
			 "{object has no whole life: it was|objects have no whole life: they were} in progress at the "
			 "end");
	if (opt.what == TIMES)
		cli_note(opt.quiet, name, t->lost,
			 "{object has no whole life: it was|objects have no whole life: they were} in flight where "
			 "entries are missing");
	cli_note(opt.quiet, name, t->single_entry,
		 "{object has no whole life: its creation is its|objects have no whole life: their creation is their} "
		 "only entry");
	cli_note(opt.quiet, name, t->late,
		 "whole {life is|lives are} counted in a later interval: {its|their} last entry was not known to be "
		 "the last");
	cli_note(opt.quiet, name, t->cut_short,
		 "whole {life is too short: its object|lives are too short: their objects} went on after an entry that "
		 "seemed to be the last");
	cli_note(opt.quiet, name, t->no_peak,
		 "request{ counts|s count} in no peak: {it|they} ended too long before others");
	if (t->lcores)
		cli_note(opt.quiet, name, t->lcores->beyond,
			 "{entry|entries} left out: there are more than 4096 lcores");
	cli_note(opt.quiet, name, t->spans.late,
		 "{entry left out: its object|entries left out: their objects} had ended");
	cli_note(opt.quiet, name, t->spans.beyond,
		 "related {object or state|objects or states} left out: an object has more than are kept");
	cli_note(opt.quiet, name, l->out_of_order,
		 "{entry left out: it|entries left out: each} is earlier than the previous one of its object");
	cli_note(opt.quiet, name, l->restarts, LIFECYCLE_RESTARTS);
	cli_count(false, t->refused,
		  "%s: %" PRIu64 " object{|s} left out: a group has more than 4 KiB, or there are more than 16777216: "
		  "group by something else",
		  name, t->refused);
}

/* Returns false, after a message, if there is nothing. For a mapper (-e) that is no error, only a note. */
static bool say_if_none(uint64_t measured, const char *name, const char *what)
{
	if (measured)
		return true;
	if (opt.output == ENCODED)
		cli_notice(opt.quiet, "%s: %s", name, what);
	else
		warnx("%s: %s", name, what);
	return opt.output == ENCODED;
}

/* Returns 0, or -1 when something was wrong with the input. */
static int measure_file(struct trees *t, const char *path)
{
	const char *name = io_name(path);
	int status = trees_lines(t, path);
	const char *none = "no object was seen in two states: nothing to measure";

	print_notes(t, name);
	if (t->refused)
		return -1;
	/* what is wrong with the input explains the rest */
	if (!t->lines)
		none = "empty: there are no trace lines";
	else if (t->left_out)
		none = "there are only admin requests: --admin measures them";
	if (status == 0 && !say_if_none(t->measured, name, none))
		return -1;
	return status;
}

/* Reads encoded lines. Returns 0, or -1 when something was wrong with them. */
static int read_encoded(struct rows *to, const char *path, const char *reader)
{
	uint64_t read;

	if (encode_read(to, path, reader, &read) != 0)
		return -1;
	return say_if_none(read, io_name(path), "empty: there are no encoded lines") ? 0 : -1;
}

/* Returns 0, or -1 when something was wrong with one of the files. */
static int read_files(struct run *run, const char *const *paths, size_t n)
{
	int status = 0;

	for (size_t i = 0; i < n; i++) {
		if (opt.merge)
			status |= read_encoded(&run->rows, paths[i], "trace-latency --merge");
		else
			status |= measure_file(&run->trees, paths[i]);
	}
	if (opt.merge)
		rows_find_families(&run->rows);
	return status;
}

/* Whether all keys of -g were found; prints a message if not. */
static bool check_keys(const struct run *run, const char *name)
{
	bool good = true;

	for (size_t i = 0; run->rows.groups.n && i < run->group.n; i++) {
		const struct group_key *key = &run->group.keys[i];

		if (key->found)
			continue;
		if (key->io != REQUEST_IO_KEYS)
			warnx("%s: -g %s: no entry has this fact about an object", name, key->name);
		else
			warnx("%s: -g %s: no line that creates an object has this key; keys are those of the lines, "
			      "such as lcore, owner, or args.qpair.hostnqn after trace-join -j -l",
			      name, key->name);
		good = false;
	}
	return good;
}

static void add_key(const char *name)
{
	opt.keys = mem_room(opt.keys, opt.num_keys, &opt.cap_keys);
	opt.keys[opt.num_keys++] = name;
}

static void set_threshold(const char *text)
{
	if (!threshold_parse(text, &opt.threshold))
		cli_usage("--fail-over '%s': a percentile and percent are expected, such as p99:10", text);
}

static const struct cli_option options[] = {
	{'g', "group", "KEY",
	 "print a table for each value of this key, such as owner or type; may be given more than once",
	 .call = add_key},
	{'r', "related", NULL, "split requests also by the states of their I/Os", .flag = &opt.related},
	{0, "layers", NULL, "one table: the share of each layer, such as network, buffer or bdev", .choice = &opt.what,
	 SHARES},
	{0, "rates", NULL, "one table: requests and blocks per second, the mean and the peak", .choice = &opt.what,
	 RATES},
	{0, "reactors", NULL, "one table: what each lcore did, for which connections, and its longest silence",
	 .choice = &opt.what, REACTORS},
	{0, "admin", NULL, "admin requests as well; they have queue 0", .flag = &opt.admin},
	{'i', "interval", "SEC", "a table or a column for every SEC seconds of the trace", .seconds = &opt.interval},
	{'H', "histogram", NULL, "histograms of powers of two instead of a table", .choice = &opt.output, HISTOGRAMS},
	{'j', "json", NULL, "JSON lines instead of a table", .choice = &opt.output, JSON},
	{'e', "encode", NULL, "lines that --merge adds up and --against reads", .choice = &opt.output, ENCODED},
	{0, "openmetrics", NULL, "OpenMetrics for Prometheus: histograms with exact counts", .choice = &opt.output,
	 OPENMETRICS},
	{0, "merge", NULL, "the files have encoded lines, of any number of runs in any order", .flag = &opt.merge},
	{0, "against", "FILE", "show how much larger times are than in these encoded lines", .text = &opt.base},
	{0, "fail-over", "P:N", "exit 3 when percentile P, such as p99, of a row is more than N percent larger",
	 .call = set_threshold},
	{0, "wide", NULL, "all columns, and names in full", .flag = &opt.wide},
	{0, "color", "WHEN", "always, never, or auto: only on a terminal (default)", .call = terminal_color},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]...\n"
	"Print how long the objects in the trace lines of each FILE, such as requests, stayed in each state and lived\n"
	"in all; without FILE, or when it is -, those of standard input.\n",
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | trace-latency\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | trace-latency -g args.qpair.hostnqn\n"
	"  trace-latency --layers -g type -g blocks trace.jsonl\n"
	"  trace-latency -e trace.jsonl > today.txt\n"
	"  trace-latency --merge --against yesterday.txt --fail-over p99:10 today.txt\n",
	.options = options,
};

static void check_options(void)
{
	if (opt.merge && (opt.admin || opt.num_keys || opt.related || opt.interval))
		cli_usage("--admin, -g, -i and -r apply when trace lines are encoded, not when they are merged");
	if (opt.merge && opt.what)
		cli_usage("--layers, --rates and --reactors are for trace lines");
	if (opt.base && opt.output != TABLE && opt.output != JSON)
		cli_usage("--against is for a table or -j");
	if (opt.interval && (opt.base || opt.output == ENCODED || opt.output == OPENMETRICS))
		cli_usage("-i cannot be combined with -e, --openmetrics or --against");
	if (opt.what && (opt.related || opt.base || (opt.output != TABLE && opt.output != JSON)))
		cli_usage("--layers, --rates and --reactors cannot be combined with -e, -H, --openmetrics, -r or "
			  "--against");
	if (opt.what == REACTORS && opt.num_keys)
		cli_usage("--reactors has a row for each lcore: it cannot be combined with -g");
	if (opt.threshold.percentile && !opt.base)
		cli_usage("--fail-over needs --against");
}

/* Returns the paths of the input. */
static const char *const *parse_options(int argc, char **argv, size_t *n)
{
	const char *const *paths;

	cli_parse(&cli, argc, argv);
	check_options();
	paths = cli_operands(argc, argv, opt.merge ? "files of encoded lines" : "files of trace lines", n);
	if (opt.interval && *n > 1)
		cli_usage("-i is for one file: each has a time of its own");
	if (opt.what == REACTORS && *n > 1)
		cli_usage("--reactors is for one file: see trace-merge for the traces of several targets");
	for (size_t i = 0; i < *n; i++)
		if (opt.base && strcmp(opt.base, "-") == 0 && strcmp(paths[i], "-") == 0)
			cli_usage("standard input can only be one of the files");
	return paths;
}

/* Prints how many rows of the base this run does not have. */
static void note_gone(const struct run *run)
{
	uint64_t gone = 0;

	for (size_t i = 0; i < run->base.num_filled; i++)
		gone += !rows_find(&run->rows, &run->base, run->base.filled[i]);
	cli_note(opt.quiet, io_name(opt.base), gone, "row{ is|s are} not in this run");
}

/* The exit status with --fail-over; status: the one without. */
static int judge(const struct run *run, int status)
{
	enum threshold_verdict verdict = threshold_report(&opt.threshold, &run->rows, &run->base, io_name(opt.base));

	if (status || verdict == THRESHOLD_KEPT)
		return status;
	return verdict == THRESHOLD_EXCEEDED ? EXIT_WORSE : EXIT_FAILURE;
}

static void start(struct run *run)
{
	out_open(&run->out, STDOUT_FILENO);
	run->terminal = terminal_open(opt.wide);
	group_start(&run->group, opt.keys, opt.num_keys, &run->rows.groups, ROWS_GROUPS);
	run->trees = (struct trees){.related = opt.related,
				    .admin = opt.admin,
				    .wants_wall = opt.output == OPENMETRICS,
				    .interval = opt.interval,
				    .group = &run->group,
				    .rows = &run->rows,
				    .shares = opt.what == SHARES ? &run->shares : NULL,
				    .rates = opt.what == RATES ? &run->rates : NULL,
				    .lcores = opt.what == REACTORS ? &run->lcores : NULL,
				    .out = &run->out,
				    .print = print,
				    .context = run};
}

int main(int argc, char **argv)
{
	static struct run run;
	int status = EXIT_SUCCESS;
	size_t n;
	const char *const *paths = parse_options(argc, argv, &n);

	start(&run);
	if (opt.base && read_encoded(&run.base, opt.base, "trace-latency --against -") != 0)
		status = EXIT_FAILURE;
	rows_find_families(&run.base);
	if (read_files(&run, paths, n) != 0 || !check_keys(&run, n == 1 ? io_name(paths[0]) : "all files"))
		status = EXIT_FAILURE;
	if (opt.threshold.percentile && !threshold_applies(&run.rows, &run.base, io_name(opt.base)))
		exit(EXIT_USAGE);
	print(&run);
	if (opt.base)
		note_gone(&run);
	if (opt.threshold.percentile)
		status = judge(&run, status);
	trees_free(&run.trees);
	group_free(&run.group);
	shares_free(&run.shares);
	rates_free(&run.rates);
	lcore_rows_free(&run.lcores);
	rows_free(&run.rows);
	rows_free(&run.base);
	free(opt.keys);
	return cli_close(&run.out, status);
}
