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
#include "io.h"
#include "json.h"
#include "lines.h"
#include "names.h"
#include "number.h"
#include "objects.h"
#include "out.h"
#include "trace-chrome-event.h"
#include "traceline.h"
#include "utf8.h"

/* What is kept of an object besides its life, in an array that is parallel to objects.all. */
struct drawn {
	uint32_t lcore; /* of its last entry */
	uint32_t label; /* in labels: the name of its life */
	uint64_t arrow; /* one that leads to its next entry; 0: none */
};

/* A state of a type of objects. */
struct place {
	uint64_t left, ended; /* how often objects have left it, and have ended their lives in it */
	uint64_t stay;        /* how many are in it */
	bool last_by_name;
};

struct chart {
	struct out *out;
	struct objects objects;
	struct names types, states, labels;
	struct drawn *drawn;
	uint32_t num_drawn;
	struct map lcores; /* those that have a track */
	struct map places; /* type and state: index into all_places */
	struct place *all_places;
	uint32_t num_places, cap_places;
	uint64_t depths[OBJECTS_TYPES]; /* objects in work, by type */
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

static bool ends_with(struct slice s, const char *end)
{
	size_t n = strlen(end);

	return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

static bool last_by_name(struct slice state)
{
	return ends_with(state, "COMPLETED") || ends_with(state, "DONE") ||
	       (ends_with(state, "COMPLETE") && !ends_with(state, "RDY_TO_COMPLETE"));
}

static struct place *place_of(struct chart *c, uint32_t type, uint32_t state)
{
	uint32_t *index = map_put(&c->places, (uint64_t)type << 32 | state);

	if (!index)
		err(EXIT_FAILURE, NULL);
	if (*index == MAP_NONE) {
		if (c->num_places == c->cap_places) {
			c->cap_places = c->cap_places ? 2 * c->cap_places : 64;
			c->all_places = allocate(c->all_places, c->cap_places,
						 sizeof(*c->all_places));
		}
		*index = c->num_places++;
		c->all_places[*index] = (struct place){
			.last_by_name = last_by_name(c->states.all[state])};
	}
	return &c->all_places[*index];
}

/*
 * How many objects in a state are in work. A trace does not tell final states: one is final when more objects
 * have ended their lives in it than have left it, and by its name as long as that is open.
 */
static uint64_t in_work(const struct place *p)
{
	bool last = p->ended == p->left ? p->last_by_name : p->ended > p->left;

	return last ? 0 : p->stay;
}

static void enter(struct chart *c, uint32_t type, uint32_t state)
{
	struct place *p = place_of(c, type, state);

	c->depths[type] -= in_work(p);
	p->stay++;
	c->depths[type] += in_work(p);
}

/* moved: to another state; else its life has ended there. */
static void leave(struct chart *c, uint32_t type, uint32_t state, bool moved)
{
	struct place *p = place_of(c, type, state);

	c->depths[type] -= in_work(p);
	p->stay--;
	if (moved)
		p->left++;
	else
		p->ended++;
	c->depths[type] += in_work(p);
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
	number = names_add(&c->labels, label);
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

	if (before->entries) {
		end_life(c, before, d);
		leave(c, before->type, before->state, false);
	}
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
	leave(c, before->type, before->state, true);
	if (d->arrow)
		event_arrow_to(c->out, at, d->arrow);
	d->arrow = 0;
	if (related) {
		drawn_of(c, related)->arrow = ++c->arrows;
		event_arrow_from(c->out, at, c->arrows);
	}
}

static void draw_object(struct chart *c, const struct object *o, struct event_at at,
			uint64_t depth_before, const struct traceline *line)
{
	event_begin(c->out, at, id_of(c, o), c->states.all[o->state], line);
	event_entry(c->out, at, line);
	enter(c, o->type, o->state);
	drawn_of(c, o)->lcore = at.lcore;
	if (c->depths[o->type] != depth_before)
		event_depth(c->out, at.ns, c->types.all[o->type], c->depths[o->type]);
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
	uint64_t depth;
	uint32_t state;

	if (!traceline_ns(line->us, &at.ns))
		return "a time is negative or longer than 584 years";
	error = find_track(c, line, &at.lcore);
	if (error)
		return error;
	state = names_add(&c->states, line->tpoint);
	if (state == MAP_NONE)
		return "no memory";
	switch (objects_take(&c->objects, line, at.ns, state, &object, &before, &error)) {
	case OBJECT_ERROR:
		return error;
	case OBJECT_NONE:
		event_instant(c->out, at, line);
		break;
	case OBJECT_BEGINS:
		depth = c->depths[object->type];
		begin_life(c, object, &before, at, line);
		draw_object(c, object, at, depth, line);
		break;
	case OBJECT_GOES_ON:
		depth = c->depths[object->type];
		next_state(c, object, &before, at, line);
		draw_object(c, object, at, depth, line);
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
	return lines_close(lines, got < 0 ? errno : 0);
}

static void chart_free(struct chart *c)
{
	objects_free(&c->objects);
	names_free(&c->types);
	names_free(&c->states);
	names_free(&c->labels);
	map_free(&c->lcores);
	map_free(&c->places);
	free(c->all_places);
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
	struct lines lines;
	struct out out;

	chart.out = &out;
	chart.objects.types = &chart.types;
	if (out_open(&out, STDOUT_FILENO) != 0)
		err(EXIT_FAILURE, NULL);
	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	lines.tie = &out;
	if (draw_all(&chart, &lines) != 0)
		status = EXIT_FAILURE;
	chart_free(&chart);
	return cli_close(&out, status);
}
