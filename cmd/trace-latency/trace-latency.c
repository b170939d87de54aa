/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-latency: follows the objects of a trace, such as requests, from state to state and prints how long
 * they stayed in each, by group if wanted. What it keeps are histograms, which can be written as lines, added
 * up by another trace-latency, and compared with those of an earlier run.
 *
 * Times are whole nanoseconds, which the `us` of trace lines has: the ticks of tsc would need a rate, and a
 * line does not tell it. So sums are exact, and the parts of a life add up to the whole.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "code.h"
#include "group.h"
#include "interactive.h"
#include "io.h"
#include "judge.h"
#include "lines.h"
#include "mem.h"
#include "objects.h"
#include "out.h"
#include "print.h"
#include "traceline.h"

enum { EXIT_WORSE = 3 };

static struct {
	enum { TABLE, JSON, HISTOGRAMS, CODE } output;
	bool merge, related, quiet;
	uint64_t interval; /* ns; 0: none */
	const char *base;  /* file to compare with, or NULL */
	bool judge;
	struct limit limit;
	struct group group;
} opt;

struct trace {
	struct rows rows;
	struct objects objects;
	struct interval interval; /* the one being measured */
	uint32_t *touched;        /* indexes of the objects that have entries in it, each once */
	uint32_t num_touched, cap_touched;
	uint64_t lone;       /* objects of one entry, their creation */
	uint64_t unfinished; /* objects in work at the end */
	uint64_t belated;    /* lives of which the end was not known in its interval */
	uint64_t premature;  /* lives that were recorded and had not ended */
};

/* Marks of an object. */
enum {
	TOUCHED = 1,  /* in trace.touched */
	RECORDED = 2, /* its life is in an interval */
	PREMATURE = 4,
};

static void record(struct row *row, uint64_t ns)
{
	if (histogram_record(&row->times, ns) != 0)
		err(EXIT_FAILURE, NULL);
}

/* One entry is a life, too, where it says how old its object is. */
static bool is_life(const struct object *o)
{
	return o->entries > 1 || o->age;
}

static void record_life(struct trace *trace, const struct object *o)
{
	record(rows_at(&trace->rows, o->note, o->type, ROWS_LIFE, ROWS_LIFE),
	       o->age + (o->last - o->first));
}

/* A life is over. */
static void end_life(struct trace *trace, const struct object *o)
{
	if (o->marks & RECORDED)
		return;
	if (!is_life(o)) {
		trace->lone++;
		return;
	}
	trace->belated += o->last < trace->interval.from;
	record_life(trace, o);
}

/* Takes note that an object has an entry in this interval. */
static void touch(struct trace *trace, struct object *o)
{
	if (o->marks & RECORDED && !(o->marks & PREMATURE)) {
		o->marks |= PREMATURE;
		trace->premature++;
	}
	if (!opt.interval || o->marks & TOUCHED)
		return;
	o->marks |= TOUCHED;
	if (trace->num_touched == trace->cap_touched) {
		trace->cap_touched = trace->objects.cap;
		trace->touched = reallocarray(trace->touched, trace->cap_touched,
					      sizeof(*trace->touched));
		if (!trace->touched)
			err(EXIT_FAILURE, NULL);
	}
	trace->touched[trace->num_touched++] = o - trace->objects.all;
}

/* Ends the lives whose last entry is in this interval, as far as that can be known now. */
static void end_touched(struct trace *trace)
{
	for (uint32_t i = 0; i < trace->num_touched; i++) {
		struct object *o = &trace->objects.all[trace->touched[i]];

		o->marks &= ~TOUCHED;
		if (o->entries && !(o->marks & RECORDED) && is_life(o) &&
		    objects_is_final(&trace->objects, o, false)) {
			record_life(trace, o);
			o->marks |= RECORDED;
		}
	}
	trace->num_touched = 0;
}

static void move(struct trace *trace, const struct object *from, const struct object *to)
{
	record(rows_at(&trace->rows, to->note, to->type, from->state, to->state),
	       to->last - from->last);
}

static void print(const struct trace *trace, const struct rows *base, struct out *out)
{
	if (opt.output == CODE)
		code_write(out, &trace->rows);
	else if (opt.output == JSON)
		print_json(out, &trace->rows, base, trace->interval);
	else if (opt.output == HISTOGRAMS)
		print_histograms(out, &trace->rows, trace->interval);
	else
		print_table(out, &trace->rows, base, trace->interval);
}

/* Prints the interval that a time is behind, and begins the one that it is in. */
static void next_interval(struct trace *trace, uint64_t ns, struct out *out)
{
	if (trace->interval.to) {
		end_touched(trace);
		print(trace, NULL, out);
		rows_clear(&trace->rows);
	}
	trace->interval.from = ns - ns % opt.interval;
	if (__builtin_add_overflow(trace->interval.from, opt.interval, &trace->interval.to))
		trace->interval.to = UINT64_MAX;
}

static uint32_t number_of(struct intern *names, struct slice text)
{
	uint32_t number = intern_add(names, text);

	if (number == MAP_NONE)
		err(EXIT_FAILURE, NULL);
	return number;
}

/* The number of the group of a line's object. */
static uint32_t group_number(struct trace *trace, const struct traceline *line, struct slice text)
{
	const struct object *related = opt.group.n ? objects_related(&trace->objects, line) : NULL;
	struct slice inherited = related ? trace->rows.groups.all[related->note] : (struct slice){};

	return number_of(&trace->rows.groups, group_of(&opt.group, line, text, inherited));
}

/* Takes in a trace line. Returns NULL, or what is wrong with it. */
static const char *take(struct trace *trace, const struct traceline *line, struct slice text,
			struct out *out)
{
	struct object *object, before;
	const char *error;
	uint32_t state;
	uint64_t ns;

	if (!line->object_id.p && !(opt.related && line->related.p))
		return NULL;
	if (!traceline_ns(line->us, &ns))
		return "a time is negative or longer than 584 years";
	if (opt.interval && ns >= trace->interval.to)
		next_interval(trace, ns, out);
	state = number_of(&trace->rows.states, line->tpoint);
	if (state >= ROWS_STATES)
		return "more than 65535 tracepoints";
	switch (objects_take(&trace->objects, line, ns, state, &object, &before, &error)) {
	case OBJECT_ERROR:
		return error;
	case OBJECT_BEGINS:
		if (before.entries)
			end_life(trace, &before);
		object->marks &= TOUCHED;
		touch(trace, object);
		object->note = group_number(trace, line, text);
		if (object->note >= ROWS_GROUPS) {
			object->entries = 0;
			return "more than 16777216 groups: group by something else";
		}
		break;
	case OBJECT_GOES_ON:
		touch(trace, object);
		move(trace, &before, object);
		break;
	case OBJECT_NONE:
		break;
	}
	if (!opt.related)
		return NULL;
	object = objects_related(&trace->objects, line);
	if (!object)
		return NULL;
	before = *object;
	switch (objects_step(&trace->objects, object, ns, state)) {
	case OBJECT_ERROR:
		return "no memory";
	case OBJECT_GOES_ON:
		touch(trace, object);
		move(trace, &before, object);
		break;
	default:
		break;
	}
	return NULL;
}

/* Ends the lives that are left; those that are in no final state were still in work when the trace ended. */
static void end_lives(struct trace *trace)
{
	for (uint32_t i = 0; i < trace->objects.n; i++) {
		const struct object *o = &trace->objects.all[i];

		if (!o->entries)
			continue;
		if (objects_is_final(&trace->objects, o, true))
			end_life(trace, o);
		else if (!(o->marks & RECORDED))
			trace->unfinished++;
		else
			trace->premature += !(o->marks & PREMATURE);
	}
}

static void note(const char *name, uint64_t n, const char *what)
{
	if (n)
		cli_notice(opt.quiet, "%s: %" PRIu64 " %s", name, n, what);
}

/* Says once what could not be measured. */
static void print_notes(const struct trace *trace, const char *name)
{
	note(name, trace->objects.unknowns, "objects left out: their begin is not in the trace");
	note(name, trace->unfinished, "objects have no whole life: they were in work at the end");
	note(name, trace->lone, "objects have no whole life: their creation is their only entry");
	note(name, trace->belated,
	     "whole lives are in a later interval than their last entry, which was not known to be the last");
	note(name, trace->premature,
	     "whole lives are cut short: what seemed to be the last entry of their objects was not");
	note(name, trace->objects.late,
	     "entries left out: they are earlier than the one before them of their object");
	note(name, trace->objects.restarts,
	     "objects are created before the last entry at their address: the lines come from several "
	     "traces, or are not in order");
}

/* Whether there are rows; says so when not. For a mapper (-e) no line at all is right where there is nothing. */
static bool say_if_none(const struct rows *rows, const char *name, const char *what)
{
	if (rows->n)
		return true;
	if (opt.output == CODE)
		cli_notice(opt.quiet, "%s: %s", name, what);
	else
		warnx("%s: %s", name, what);
	return opt.output == CODE;
}

/* Whether there is something to print, and all keys of -g were there; says so when not. */
static bool check_measured(const struct trace *trace, const struct lines *lines)
{
	bool good = say_if_none(&trace->rows, lines->name,
				lines->number
					? "no object was seen in two states: nothing to measure"
					: "empty: there are no trace lines");

	for (unsigned i = 0; trace->rows.groups.n && i < opt.group.n; i++) {
		if (opt.group.keys[i].found)
			continue;
		warnx("%s: -g %s: no line that begins an object has this key; keys are those of the lines, such as lcore, owner, or args.qpair.hostnqn after trace-join -j -l",
		      lines->name, opt.group.keys[i].name);
		good = false;
	}
	return good;
}

/* Measures trace lines. Returns 0, or -1 when something was wrong with the input. */
static int measure(struct trace *trace, const char *path, struct out *out)
{
	struct traceline parsed = {};
	struct interactive interactive;
	struct lines lines;
	struct slice line;
	const char *error;
	int got = 0, status;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines_expect(&lines, KIND_TRACE_LINES, "trace-latency");
	interactive_start(&interactive, &lines, out);
	while (!out->error && (got = lines_next(&lines, &line)) > 0) {
		error = traceline_parse(&parsed, line);
		if (!error)
			error = take(trace, &parsed, line, out);
		if (error)
			lines_complain(&lines, "not a trace line, left out: %s", error);
	}
	traceline_free(&parsed);
	status = lines_close(&lines, got < 0 ? errno : 0);
	end_lives(trace);
	print_notes(trace, io_name(path));
	/* what was wrong with the input says it all */
	return status == 0 && !check_measured(trace, &lines) ? -1 : status;
}

static void add_group(const char *key)
{
	opt.group.keys = mem_room(opt.group.keys, opt.group.n, &opt.group.cap);
	opt.group.keys[opt.group.n++] = (struct group_key){.name = key};
}

static void set_limit(const char *text)
{
	opt.judge = true;
	if (!limit_parse(text, &opt.limit))
		cli_usage("--fail-over '%s': a percentile and percent are expected, such as p99:10",
			  text);
}

static const struct cli_option options[] = {
	{'g', "group", "KEY",
	 "a table for each value of this key of the lines; may be given more than once",
	 .call = add_group},
	{'r', "related", NULL,
	 "entries of related objects are states of the object they are related to",
	 .flag = &opt.related},
	{'i', "interval", "SEC", "a table for every SEC seconds of the trace",
	 .seconds = &opt.interval},
	{'H', "histogram", NULL, "histograms of powers of two instead of a table",
	 .choice = &opt.output, HISTOGRAMS},
	{'j', "json", NULL, "JSON lines instead of a table", .choice = &opt.output, JSON},
	{'e', "encode", NULL, "lines that --merge adds up and --against reads",
	 .choice = &opt.output, CODE},
	{0, "merge", NULL, "FILE has such lines, of any number of runs in any order",
	 .flag = &opt.merge},
	{0, "against", "FILE", "show how much larger times are than in these encoded lines",
	 .text = &opt.base},
	{0, "fail-over", "P:N",
	 "exit 3 when percentile P, such as p99, of a row is more than N percent larger",
	 .call = set_limit},
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
		cli_usage(
			"-g, -i and -r are for trace lines: they were decided when the lines were encoded");
	if (opt.base && opt.output != TABLE && opt.output != JSON)
		cli_usage("--against is for a table or -j");
	if (opt.interval && (opt.base || opt.output == CODE))
		cli_usage("-i does not go with -e and --against");
	if (opt.judge && !opt.base)
		cli_usage("--fail-over needs --against");
}

/* Returns the path of the input. */
static const char *parse_options(int argc, char **argv)
{
	const char *path;

	cli_parse(&cli, argc, argv);
	check_options();
	path = cli_operand(argc, argv,
			   opt.merge ? "one file of encoded lines" : "one file of trace lines");
	if (opt.base && strcmp(opt.base, "-") == 0 && strcmp(path, "-") == 0)
		cli_usage("standard input can only be one of the files");
	return path;
}

/* Says which rows of the base this run does not have. */
static void note_gone(const struct rows *rows, const struct rows *base)
{
	uint64_t gone = 0;

	for (uint32_t i = 0; i < base->n; i++) {
		const struct row *row = rows_like(rows, base, base->all[i]);

		gone += base->all[i]->times.count && !(row && row->times.count);
	}
	note(io_name(opt.base), gone, "rows are not in this run");
}

/* Reads encoded lines. Returns 0, or -1 when something was wrong with them. */
static int read_code(struct rows *rows, const char *path, const char *reader)
{
	if (code_read(rows, path, reader) != 0)
		return -1;
	return say_if_none(rows, io_name(path), "empty: there are no encoded lines") ? 0 : -1;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	static struct trace trace;
	static struct rows base;
	int status = EXIT_SUCCESS;
	struct out out;

	out_open(&out, STDOUT_FILENO);
	if (opt.base && read_code(&base, opt.base, "trace-latency --against -") != 0)
		status = EXIT_FAILURE;
	trace.objects.types = &trace.rows.types;
	trace.objects.states = &trace.rows.states;
	if ((opt.merge ? read_code(&trace.rows, path, "trace-latency --merge")
		       : measure(&trace, path, &out)) != 0)
		status = EXIT_FAILURE;
	print(&trace, opt.base ? &base : NULL, &out);
	if (opt.base)
		note_gone(&trace.rows, &base);
	if (opt.judge && limit_judge(&opt.limit, &trace.rows, &base, io_name(opt.base)) && !status)
		status = EXIT_WORSE;
	objects_free(&trace.objects);
	free(trace.touched);
	rows_free(&trace.rows);
	rows_free(&base);
	free(opt.group.keys);
	out_close(&opt.group.text);
	return cli_close(&out, status);
}
