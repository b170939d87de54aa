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
#include "count.h"
#include "encode.h"
#include "io.h"
#include "joining.h"
#include "mem.h"
#include "openmetrics.h"
#include "out.h"
#include "progress.h"
#include "reading.h"
#include "screen.h"
#include "tables.h"
#include "textfile.h"

static struct {
	enum { TABLE, JSON, ENCODED, OPENMETRICS } output;
	enum { TIMES, SHARES, RATES } what; /* is measured */
	bool histograms;                    /* in the table, or as JSON */
	bool merge, related, admin, quiet, screen;
	uint64_t interval; /* ns; 0: none */
	const char *base;  /* file to compare with, or NULL */
	const char *file;  /* of -o, or NULL */
	const char **keys; /* of -g */
	size_t num_keys, cap_keys;
	struct joining joining;
} opt;

struct run {
	struct reading reading;
	struct rows base; /* of the earlier run */
	struct output to;
	struct out shown; /* of --screen: the terminal, as a screen is made in memory */
	unsigned idle_ms; /* since the latest line or screen */
	bool failed;      /* a file could not be replaced, after a message */
};

/* Prints what was measured, in all or in an interval. */
static void print(struct run *run)
{
	struct reading *r = &run->reading;
	const struct rows *rows = &r->sums.rows, *base = opt.base ? &run->base : NULL;

	/* names may change when another host appears, so other lines have NQNs */
	if (opt.output == TABLE || opt.output == JSON)
		rows_name_hosts(&r->sums.rows, &r->connections);
	if (opt.what == RATES)
		rates_table(&run->to, &r->sums.rates, rows, sums_elapsed(&r->sums), sums_slot(&r->sums));
	else if (opt.what == SHARES)
		layers_table(&run->to, &r->sums.shares, rows);
	else if (opt.output == ENCODED)
		encode_write(&run->to.out, rows);
	else if (opt.output == OPENMETRICS)
		openmetrics_write(&run->to.out, rows, r->wall);
	else if (opt.histograms)
		print_histograms(&run->to, rows);
	else
		print_table(&run->to, rows, base);
}

/* What is in flight does not end the interval: a target that hangs writes nothing. */
static void show(struct run *run, bool last)
{
	struct reading *r = &run->reading;

	run->to.out.len = 0;
	run->idle_ms = 0;
	print(run);
	if (!last)
		screen_put_open(&run->to.out, &r->spans, &r->connections);
	screen_show(&run->shown, out_contents(&run->to.out));
}

static void replace_file(struct run *run)
{
	run->to.out.len = 0;
	print(run);
	if (textfile_replace(opt.file, out_contents(&run->to.out)) == 0)
		return;
	warn("%s", io_name(opt.file));
	run->failed = true;
}

static void put(struct run *run, bool last)
{
	if (opt.screen)
		show(run, last);
	else if (opt.file)
		replace_file(run);
	else
		print(run);
}

/* An interval is over. */
static void print_interval_of(void *context)
{
	put(context, false);
}

static void pass(void *context)
{
	struct run *run = context;

	run->idle_ms += INTERACTIVE_TICK_MS;
	if (run->idle_ms * 1000000ULL >= opt.interval)
		show(run, false);
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
static int measure_file(struct reading *r, const char *path)
{
	const struct sums_counts *counts = &r->sums.counts;
	const char *name = io_name(path);
	int status = reading_file(r, path);
	const char *none = "no object was seen in two states: nothing to measure";

	reading_notes(r, name, opt.quiet);
	if (counts->refused)
		return -1;
	/* what is wrong with the input explains the rest */
	if (!r->lines)
		none = "empty: there are no trace lines";
	else if (counts->left_out)
		none = "there are only admin requests: --admin measures them";
	if (status == 0 && !say_if_none(counts->measured, name, none))
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
			status |= read_encoded(&run->reading.sums.rows, paths[i], "trace-latency --merge");
		else
			status |= measure_file(&run->reading, paths[i]);
	}
	return status;
}

/* Whether all keys of -g were found; prints a message if not. */
static bool check_keys(const struct group *group, const char *name)
{
	bool good = true;

	for (size_t i = 0; group->any && i < group->n; i++) {
		const struct group_key *key = &group->keys[i];

		if (key->found)
			continue;
		warnx("%s: -g %s: no object has this key", name, key->name.p);
		good = false;
	}
	return good;
}

static void add_key(const char *name)
{
	if (!spanline_is_key(slice_of(name)))
		cli_usage("-g '%s': %s", name, SPANLINE_NO_KEY);
	mem_add(opt.keys, opt.num_keys, opt.cap_keys, name);
}

static const struct cli_option options[] = {
	{'g', "group", "KEY",
	 "print a table for each value of this key, such as host or type; may be given more than once",
	 .call = add_key},
	JOINING_OPTION(opt.joining),
	{'r', "related", NULL, "split requests also by the states of their I/Os", .flag = &opt.related},
	{0, "layers", NULL, "one table: the share of each layer, such as network, buffer or bdev", .choice = &opt.what,
	 SHARES},
	{0, "rates", NULL, "one table: requests and blocks per second, the mean and the peak", .choice = &opt.what,
	 RATES},
	{0, "admin", NULL, "admin requests as well; they have queue 0", .flag = &opt.admin},
	{'i', "interval", "SEC", "a table or a column for every SEC seconds of the trace", .seconds = &opt.interval},
	{'H', "histogram", NULL, "histograms of powers of two instead of a table", .flag = &opt.histograms},
	{'j', "json", NULL, "JSON lines instead of a table", .choice = &opt.output, JSON},
	{'e', "encode", NULL, "lines that --merge adds up and --against reads", .choice = &opt.output, ENCODED},
	{0, "openmetrics", NULL, "OpenMetrics for Prometheus: histograms with exact counts", .choice = &opt.output,
	 OPENMETRICS},
	{'o', "output", "FILE", "with --openmetrics: replace FILE, with -i after each interval, for node_exporter",
	 .text = &opt.file},
	{0, "screen", NULL, "with -i: draw each table in place of the last, and below it what is in flight",
	 .flag = &opt.screen},
	{0, "merge", NULL, "the files have encoded lines, of any number of runs in any order", .flag = &opt.merge},
	{0, "against", "FILE", "show how much larger times are than in these encoded lines", .text = &opt.base},
	{0, "human", NULL, "the tables of a terminal, wherever they go", .call = terminal_human},
	{0, "plain", NULL, "the tables of a pipe: all columns, tabs between them, times in microseconds",
	 .call = terminal_tabs},
	{'q', "quiet", NULL, "print no notes about what was left out", .flag = &opt.quiet},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]...\n"
	"Print how long the objects in each FILE, a trace file or trace lines, such as requests, stayed in each state\n"
	"and lived in all; without FILE, or when it is -, those of standard input.\n",
	"Examples:\n"
	"  trace-latency nvmf_trace.pid1234\n"
	"  trace-latency -l lifetimes.txt -g host nvmf_trace.pid1234\n"
	"  trace-latency --layers -g type -g blocks trace.jsonl\n"
	"  trace-latency -e trace.jsonl > today.txt\n"
	"  trace-latency --merge --against yesterday.txt today.txt\n",
	.options = options,
	.former = (const struct cli_former[]){{0, "wide", "is now --plain"},
					      TERMINAL_FORMER,
					      {0, "fail-over", "is gone: --against FILE -j has .change.p99, for jq -e"},
					      {}},
};

/* What was given. */
enum {
	MERGED = 1,
	ADMIN = 2,
	KEYS = 4,
	RELATED = 8,
	INTERVAL = 16,
	AGAINST = 32,
	OTHER_TABLE = 64, /* than that of times */
	AS_LINES = 128,   /* -e, --openmetrics */
	AS_HISTOGRAMS = 256,
	LIFETIMES = 512,
	ON_SCREEN = 1024,
};

static unsigned given(void)
{
	return (opt.merge ? MERGED : 0) | (opt.admin ? ADMIN : 0) | (opt.num_keys ? KEYS : 0) |
	       (opt.related ? RELATED : 0) | (opt.interval ? INTERVAL : 0) | (opt.base ? AGAINST : 0) |
	       (opt.what ? OTHER_TABLE : 0) | (opt.output == ENCODED || opt.output == OPENMETRICS ? AS_LINES : 0) |
	       (opt.histograms ? AS_HISTOGRAMS : 0) | (opt.joining.files.n ? LIFETIMES : 0) |
	       (opt.screen ? ON_SCREEN : 0);
}

/* Options of which none can be combined with any of the others. */
static const struct {
	unsigned some, others;
	const char *why;
} conflicts[] = {
	{MERGED, ADMIN | KEYS | INTERVAL | LIFETIMES | RELATED,
	 "--admin, -g, -i, -l and -r apply when trace lines are encoded, not when they are merged"},
	{MERGED, OTHER_TABLE, "--layers and --rates are for trace lines"},
	{AGAINST, AS_LINES | AS_HISTOGRAMS, "--against is for a table or -j"},
	{AS_HISTOGRAMS, AS_LINES, "-H is for a table or -j"},
	{INTERVAL, AGAINST, "-i cannot be combined with --against"},
	{ON_SCREEN, MERGED | AS_LINES, "--screen is for tables of requests in a live trace"},
	{OTHER_TABLE, RELATED | AGAINST | AS_LINES | AS_HISTOGRAMS,
	 "--layers and --rates cannot be combined with -e, -H, --openmetrics, -r or --against"},
};

static void check_options(void)
{
	for (size_t i = 0; i < COUNT(conflicts); i++)
		if (given() & conflicts[i].some && given() & conflicts[i].others)
			cli_usage("%s", conflicts[i].why);
	if (opt.file && opt.output != OPENMETRICS)
		cli_usage("-o is for --openmetrics");
	if (opt.file && textfile_has_other(opt.file))
		cli_usage("-o '%s': this file is there and has no metrics; give another name, or remove it", opt.file);
	if (opt.interval && (opt.output == ENCODED || (opt.output == OPENMETRICS && !opt.file)))
		cli_usage("-i cannot be combined with -e, or with --openmetrics unless -o names a file");
	if (opt.screen && (!opt.interval || opt.output != TABLE))
		cli_usage("--screen needs -i, and is for a table");
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
	for (size_t i = 0; i < *n; i++)
		if (joining_share_stdin(&opt.joining, paths[i]) ||
		    (opt.base && strcmp(opt.base, "-") == 0 && strcmp(paths[i], "-") == 0))
			cli_usage("standard input can only be one of the files");
	return paths;
}

/* Prints how many rows of the base this run does not have. */
static void note_gone(const struct run *run)
{
	uint64_t gone = 0;

	for (size_t i = 0; i < run->base.num_filled; i++)
		gone += !rows_find(&run->reading.sums.rows, &run->base, run->base.filled[i]);
	cli_note(opt.quiet, io_name(opt.base), gone, "row{ is|s are} not in this run");
}

static void start(struct run *run)
{
	static const unsigned wanted[] = {[TIMES] = SUMS_TIMES, [SHARES] = SUMS_SHARES, [RATES] = SUMS_RATES};
	struct reading *r = &run->reading;
	struct sums *sums = &r->sums;

	if (opt.screen || opt.file)
		run->to.out.fd = OUT_MEMORY;
	else
		out_open(&run->to.out, STDOUT_FILENO);
	out_open(&run->shown, STDOUT_FILENO);
	run->to.columns = (struct columns){
		.out = &run->to.out, .terminal = terminal_open(), .is_json = opt.output == JSON};
	run->to.columns.terminal.plain &= !opt.screen && opt.output != JSON;
	*r = (struct reading){.quiet = opt.quiet,
			      .joining = &opt.joining,
			      /* which node_exporter refuses */
			      .wants_wall = opt.output == OPENMETRICS && !opt.file,
			      .pause = opt.screen ? pass : NULL,
			      .out = opt.screen ? &run->shown : &run->to.out};
	*sums = (struct sums){.wanted = wanted[opt.what],
			      .related = opt.related,
			      .admin = opt.admin,
			      .interval = opt.interval,
			      .over = print_interval_of,
			      .keeps = opt.file,
			      .context = run};
	group_start(&sums->group, opt.keys, opt.num_keys, &sums->rows.groups, ROWS_GROUPS);
}

int main(int argc, char **argv)
{
	static struct run run;
	int status = EXIT_SUCCESS;
	size_t n;
	const char *const *paths = parse_options(argc, argv, &n);

	if (joining_read(&opt.joining, "trace-latency -l - TRACE") != 0)
		exit(EXIT_FAILURE);
	start(&run);
	if (opt.base && read_encoded(&run.base, opt.base, "trace-latency --against -") != 0)
		status = EXIT_FAILURE;
	if (read_files(&run, paths, n) != 0 ||
	    !check_keys(&run.reading.sums.group, n == 1 ? io_name(paths[0]) : "all files"))
		status = EXIT_FAILURE;
	put(&run, true);
	if (run.failed)
		status = EXIT_FAILURE;
	if (opt.base)
		note_gone(&run);
	reading_free(&run.reading);
	rows_free(&run.base);
	joining_free(&opt.joining);
	free(opt.keys);
	cells_free(&run.to);
	if (run.to.out.fd != OUT_MEMORY)
		return cli_close(&run.to.out, status);
	out_close(&run.to.out);
	return cli_close(&run.shown, status);
}
