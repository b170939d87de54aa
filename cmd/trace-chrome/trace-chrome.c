/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-chrome: makes of trace lines a trace for chrome://tracing and Perfetto. Each lcore has a track with its
 * entries; each object, such as a request, has one with a slice for its life and in it one for each state;
 * arrows lead from a request to what it started and back; a counter tells how many objects are in work.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "event.h"
#include "interactive.h"
#include "intern.h"
#include "io.h"
#include "json.h"
#include "lines.h"
#include "number.h"
#include "objects.h"
#include "out.h"
#include "traceline.h"
#include "utf8.h"

/* What is kept of an object besides its life, in an array that is parallel to objects.all. */
struct drawn {
	uint32_t lcore; /* of its last entry */
	uint32_t label; /* in labels: the name of its life */
	uint64_t arrow; /* one that leads to its next entry; 0: none */
};

struct chart {
	struct out *out;
	struct objects objects;
	struct intern types, states, labels;
	struct drawn *drawn;
	uint32_t num_drawn;
	struct map lcores;              /* those that have a track */
	uint64_t depths[OBJECTS_TYPES]; /* what was drawn last of objects.depths */
	uint64_t arrows;                /* so many were drawn */
	struct room {
		char *p;
		size_t cap;
	} line, label; /* for a line that had to be mended, and for a label in the making */
};

/* Memory, or the end of the tool. */
static void *allocate(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n, size);

	if (!p)
		err(EXIT_FAILURE, NULL);
	return p;
}

static char *room_for(struct room *room, size_t n)
{
	if (n > room->cap) {
		room->cap = 2 * n;
		room->p = allocate(room->p, room->cap, 1);
	}
	return room->p;
}

static struct drawn *drawn_of(struct chart *c, const struct object *o)
{
	uint32_t index = o - c->objects.all;

	if (index >= c->num_drawn) {
		c->drawn = allocate(c->drawn, c->objects.cap, sizeof(*c->drawn));
		memset(c->drawn + c->num_drawn, 0,
		       (c->objects.cap - c->num_drawn) * sizeof(*c->drawn));
		c->num_drawn = c->objects.cap;
	}
	return &c->drawn[index];
}

static struct event_id id_of(const struct chart *c, const struct object *o)
{
	return (struct event_id){c->types.all[o->type], o->number};
}

/* The annotation that trace-join made, as key=value, … without the address; false when there is none. */
static bool annotation(struct chart *c, const struct traceline *line, struct slice *label)
{
	for (unsigned i = 0; i < line->num_args; i++) {
		struct slice object = line->args[i].value, key, value;
		struct json j;
		char *end, *to;

		if (object.p[0] != '{')
			continue;
		/* from the end of the room on, as the last members, such as names of hosts, tell most */
		to = end = room_for(&c->label, 2 * object.n) + 2 * object.n;
		json_init(&j, object.p, object.n);
		for (json_object(&j); json_key(&j, &key) && json_value(&j, &value);) {
			if (json_is(key, "ptr") || value.p[0] == '{' || value.p[0] == '[')
				continue;
			if (value.p[0] == '"')
				value = (struct slice){value.p + 1, value.n - 2};
			if (to < end)
				to = memcpy(to - 2, ", ", 2);
			to = memcpy(to - value.n, value.p, value.n);
			*--to = '=';
			to = memcpy(to - key.n, key.p, key.n);
		}
		*label = (struct slice){to, end - to};
		return to < end;
	}
	return false;
}

/* What a life is called: what trace-join says of an argument, or the related object's, or the owner. */
static uint32_t label_of(struct chart *c, const struct traceline *line,
			 const struct object *related)
{
	struct slice label;
	uint32_t number;

	if (!annotation(c, line, &label)) {
		if (related)
			return drawn_of(c, related)->label;
		label = line->owner.n    ? line->owner
			: line->poller.n ? line->poller
					 : slice_of("objects");
	}
	number = intern_add(&c->labels, label);
	if (number == MAP_NONE)
		err(EXIT_FAILURE, NULL);
	return number;
}

/* Ends the slices of an object at its last entry. */
static void end_life(struct chart *c, const struct object *o, const struct drawn *d)
{
	struct event_at at = {o->last, d->lcore};

	event_end(c->out, at, id_of(c, o), c->states.all[o->state]);
	event_end(c->out, at, id_of(c, o), c->labels.all[d->label]);
}

static void begin_life(struct chart *c, const struct object *o, const struct object *before,
		       struct event_at at, const struct traceline *line)
{
	const struct object *related = objects_related(&c->objects, line);
	struct drawn *d = drawn_of(c, o);

	if (before->entries)
		end_life(c, before, d);
	*d = (struct drawn){.label = label_of(c, line, related)};
	event_begin(c->out, at, id_of(c, o), c->labels.all[d->label], NULL);
	if (related) {
		struct event_at from = {related->last, drawn_of(c, related)->lcore};

		event_arrow_from(c->out, from, ++c->arrows);
		event_arrow_to(c->out, at, c->arrows);
	}
}

static void next_state(struct chart *c, const struct object *o, const struct object *before,
		       struct event_at at, const struct traceline *line)
{
	const struct object *related = objects_related(&c->objects, line);
	struct drawn *d = drawn_of(c, o);

	event_end(c->out, at, id_of(c, o), c->states.all[before->state]);
	if (d->arrow)
		event_arrow_to(c->out, at, d->arrow);
	d->arrow = 0;
	if (related) {
		drawn_of(c, related)->arrow = ++c->arrows;
		event_arrow_from(c->out, at, c->arrows);
	}
}

static void draw_object(struct chart *c, const struct object *o, struct event_at at,
			const struct traceline *line)
{
	event_begin(c->out, at, id_of(c, o), c->states.all[o->state], line);
	event_entry(c->out, at, line);
	drawn_of(c, o)->lcore = at.lcore;
	if (c->depths[o->type] != c->objects.depths[o->type]) {
		c->depths[o->type] = c->objects.depths[o->type];
		event_depth(c->out, at.ns, c->types.all[o->type], c->depths[o->type]);
	}
}

/* Makes sure that the lcore has a track. Returns NULL, or what is wrong with the line. */
static const char *find_track(struct chart *c, const struct traceline *line, uint32_t *lcore)
{
	uint64_t number;
	uint32_t *known;

	/* readers keep it in 32 bits with a sign */
	if (!number_decimal(line->lcore, &number) || number >= INT32_MAX)
		return "lcore is no integer from 0 to 2147483646";
	known = map_put(&c->lcores, number);
	if (!known)
		return "no memory";
	if (*known == MAP_NONE)
		event_track(c->out, number, line->thread);
	*known = true;
	*lcore = number;
	return NULL;
}

/* Draws a trace line. Returns NULL, or what is wrong with it. */
static const char *draw(struct chart *c, const struct traceline *line)
{
	struct object *object, before;
	struct event_at at;
	const char *error;
	uint32_t state;

	if (!traceline_ns(line->us, &at.ns))
		return "a time is negative or longer than 584 years";
	error = find_track(c, line, &at.lcore);
	if (error)
		return error;
	state = intern_add(&c->states, line->tpoint);
	if (state == MAP_NONE)
		return "no memory";
	switch (objects_take(&c->objects, line, at.ns, state, &object, &before, &error)) {
	case OBJECT_ERROR:
		return error;
	case OBJECT_NONE:
		event_instant(c->out, at, line);
		break;
	case OBJECT_BEGINS:
		begin_life(c, object, &before, at, line);
		draw_object(c, object, at, line);
		break;
	case OBJECT_GOES_ON:
		next_state(c, object, &before, at, line);
		draw_object(c, object, at, line);
		break;
	}
	return NULL;
}

/* The line, with U+FFFD, three bytes, for what is not valid UTF-8: JSON must be. */
static struct slice mend(struct chart *c, struct slice line)
{
	struct slice rest = line;
	char *to = NULL;

	while (rest.n) {
		size_t same = utf8_plain(rest);
		int n = same ? (int)(same < INT32_MAX ? same : INT32_MAX) : utf8_length(rest);

		if (n < 0 && !to)
			to = mempcpy(room_for(&c->line, 3 * line.n), line.p, rest.p - line.p);
		if (to)
			to = n < 0 ? mempcpy(to, UTF8_REPLACEMENT, 3) : mempcpy(to, rest.p, n);
		n = n < 0 ? -n : n;
		rest = (struct slice){rest.p + n, rest.n - n};
	}
	return to ? (struct slice){c->line.p, to - c->line.p} : line;
}

/* Draws all lines. Returns 0, or -1 when something was wrong with the input. */
static int draw_all(struct chart *c, struct lines *lines)
{
	struct traceline parsed = {};
	struct slice line;
	const char *error;
	int got = 0;

	event_open(c->out);
	while (!c->out->error && (got = lines_next(lines, &line)) > 0) {
		error = traceline_parse(&parsed, mend(c, line));
		if (!error)
			error = draw(c, &parsed);
		if (error)
			lines_complain(lines, "not a trace line, left out: %s", error);
	}
	for (uint32_t i = 0; i < c->objects.n; i++)
		if (c->objects.all[i].entries)
			end_life(c, &c->objects.all[i], drawn_of(c, &c->objects.all[i]));
	event_close(c->out);
	traceline_free(&parsed);
	if (!lines->number && got == 0)
		warnx("%s: empty: there are no trace lines", lines->name);
	return lines_close(lines, got < 0 ? errno : 0) != 0 || !lines->number ? -1 : 0;
}

static void chart_free(struct chart *c)
{
	objects_free(&c->objects);
	intern_free(&c->types);
	intern_free(&c->states);
	intern_free(&c->labels);
	map_free(&c->lcores);
	free(c->drawn);
	free(c->line.p);
	free(c->label.p);
}

static const char help[] =
	"Usage: %s [OPTION]... [FILE]\n"
	"Print the trace lines of FILE as a trace for chrome://tracing and ui.perfetto.dev; without FILE, or when it\n"
	"is -, those of standard input.\n"
	"\n"
	"  -h, --help     this text\n"
	"  -V, --version  the version\n"
	"\n"
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | trace-chrome > trace.json\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | trace-chrome | gzip > trace.json.gz\n";

/* Returns the path of the trace lines. */
static const char *parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {}};
	int c;

	while ((c = getopt_long(argc, argv, "+hV", options, NULL)) != -1)
		switch (c) {
		default:
			cli_option(c, help);
		}
	return cli_operand(argc, argv, "one file of trace lines");
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);
	static struct chart chart;
	int status = EXIT_SUCCESS;
	struct interactive interactive;
	struct lines lines;
	struct out out;

	chart.out = &out;
	chart.objects.types = &chart.types;
	chart.objects.states = &chart.states;
	out_open(&out, STDOUT_FILENO);
	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines_expect(&lines, KIND_TRACE_LINES, "trace-chrome");
	interactive_start(&interactive, &lines, &out);
	if (draw_all(&chart, &lines) != 0)
		status = EXIT_FAILURE;
	chart_free(&chart);
	return cli_close(&out, status);
}
