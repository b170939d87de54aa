/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-chrome: converts trace lines to JSON for viewers of Chrome traces. Each lcore has a track with
 * its entries. Each object, such as a request, has a track with nested slices: its life, what it is, and
 * each of its states. Arrows lead from a request to what it started, and back. A counter shows how many
 * objects are in work.
 */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "event.h"
#include "intern.h"
#include "io.h"
#include "lifecycle.h"
#include "mem.h"
#include "number.h"
#include "out.h"
#include "places.h"
#include "reactors.h"
#include "tracelines.h"
#include "utf8.h"
#include "what.h"

/* Most bytes of events that are held back until it is known what their object is. */
enum { HELD_MAX = 8 << 10 };

/* State of an object besides its life, in an array parallel to lifecycle.all. */
struct object_track {
	uint32_t lcore;      /* of its last entry */
	uint32_t connection; /* a place */
	uint64_t arrow;      /* one that leads to its next entry; 0: none */
	struct what what;
	uint32_t first_lcore; /* of its first entry */
	uint32_t held;        /* one more than the index in held; 0: nothing is held back */
};

/* A line about an object. */
struct entry {
	const struct traceline *line;
	struct event_at at;
	struct event_id id;
};

struct chart {
	struct out *out;
	struct lifecycle lifecycle;
	struct intern types, states, bdevs;
	struct object_track *tracks;
	size_t num_tracks;
	struct places places;
	struct chart_place {
		uint32_t process;   /* its number in the output */
		struct slice label; /* of a connection: the name of slices of lives */
	} * drawn;                  /* by place */
	uint32_t num_drawn, num_sources;
	size_t cap_drawn;
	struct reactors reactors;
	uint64_t depths[LIFECYCLE_TYPES]; /* the values of lifecycle.in_progress that were drawn last */
	uint64_t arrows;                  /* how many were drawn */
	struct chart_type {
		struct slice letter, family; /* as event_id() gets them; the letter's p is NULL at first */
	} names[LIFECYCLE_TYPES];

	/* events of objects that may get a name from what they start; the values of object_track.held that are free */
	struct out *held;
	uint32_t *spare;
	size_t num_held, cap_held, num_spare, cap_spare;

	struct out name, args, line_args;
	/* a line in which invalid UTF-8 is replaced */
	struct out clean;
	struct traceline clean_line;
};

static struct object_track *track_of(struct chart *c, const struct object *o)
{
	size_t cap = c->lifecycle.cap;

	if (c->num_tracks < cap) {
		c->tracks = mem_resize(c->tracks, cap, sizeof(*c->tracks));
		memset(c->tracks + c->num_tracks, 0, (cap - c->num_tracks) * sizeof(*c->tracks));
		c->num_tracks = cap;
	}
	return &c->tracks[o - c->lifecycle.all];
}

/* The letter and the family in the ids of a type's objects. */
static struct chart_type find_name(const struct chart *c, uint32_t number)
{
	struct slice type = c->types.all[number], letter = lifecycle_letter(type);

	/* viewers pair events by id: only the first type with a letter has no family in its ids */
	for (uint32_t i = 0; i < number; i++)
		if (slice_equal(lifecycle_letter(c->types.all[i]), letter))
			return (struct chart_type){letter, lifecycle_family(type)};
	return (struct chart_type){.letter = letter};
}

static const struct chart_type *name_of_type(struct chart *c, uint32_t type)
{
	if (!c->names[type].letter.p)
		c->names[type] = find_name(c, type);
	return &c->names[type];
}

static struct event_id id_of(struct chart *c, const struct object *o)
{
	const struct chart_type *type = name_of_type(c, o->type);

	return event_id(type->letter, type->family, o->number);
}

/* Names the processes and tracks of new places, which all belong to this line. */
static void draw_places(struct chart *c, const struct traceline *line)
{
	for (; c->num_drawn < c->places.keys.n; c->num_drawn++) {
		const struct place *place = &c->places.all[c->num_drawn];
		struct chart_place new = {.process = EVENT_PROCESS};

		if (place->in != MAP_NONE) {
			new.process = c->drawn[place->in].process;
		} else if (line->source.p) {
			new.process += ++c->num_sources;
			event_process(c->out, new.process, place->name);
		}
		if (place->kind == PLACES_LCORE)
			event_track(c->out, new.process, place->lcore, place->name);
		if (place->kind == PLACES_CONNECTION) {
			c->name.len = 0;
			places_write_name(&c->name, &c->places, c->num_drawn);
			new.label = mem_slice(out_contents(&c->name));
		}
		c->drawn = mem_room(c->drawn, c->num_drawn, &c->cap_drawn);
		c->drawn[c->num_drawn] = new;
	}
}

static uint32_t connection_of(struct chart *c, const struct traceline *line, const struct object *parent)
{
	uint32_t connection = parent ? track_of(c, parent)->connection : places_connection(&c->places, line);

	draw_places(c, line);
	return connection;
}

static struct slice label_of(const struct chart *c, const struct object_track *track)
{
	return c->drawn[track->connection].label;
}

static struct event_at at_entry(const struct chart *c, const struct object_track *track, uint64_t ns, uint32_t lcore)
{
	return event_at(ns, lcore, c->drawn[track->connection].process);
}

/* Where the events of an object are written: to its buffer while they are held back. */
static struct out *events_of(struct chart *c, const struct object_track *track)
{
	return track->held ? &c->held[track->held - 1] : c->out;
}

static void hold(struct chart *c, struct object_track *track)
{
	if (!c->num_spare) {
		c->held = mem_room(c->held, c->num_held, &c->cap_held);
		c->held[c->num_held++] = (struct out){.fd = OUT_MEMORY};
		c->spare = mem_room(c->spare, c->num_spare, &c->cap_spare);
		c->spare[c->num_spare++] = c->num_held;
	}
	track->held = c->spare[--c->num_spare];
}

static struct slice name_of(struct chart *c, const struct what *what)
{
	c->name.len = 0;
	what_write_name(&c->name, what, &c->bdevs);
	return out_contents(&c->name);
}

/* Starts the slice that says what an object is, at the object's start. */
static void draw_what(struct chart *c, const struct object *o, const struct object_track *track)
{
	struct event_at at = at_entry(c, track, o->first, track->first_lcore);
	struct event_id id = id_of(c, o);

	c->args.len = 0;
	what_write_args(&c->args, &track->what, &c->bdevs);
	event_begin(c->out, &at, &id, name_of(c, &track->what), out_contents(&c->args));
}

/* Writes the events that were held back: it is known what the object is, or never will be. */
static void release(struct chart *c, const struct object *o, struct object_track *track)
{
	struct out *held = events_of(c, track);

	if (!track->held)
		return;
	if (track->what.known)
		draw_what(c, o, track);
	out_slice(c->out, out_contents(held));
	held->len = 0;
	c->spare = mem_room(c->spare, c->num_spare, &c->cap_spare);
	c->spare[c->num_spare++] = track->held;
	track->held = 0;
}

/* Copies what an object is to the objects above it, up to the first one whose events are not held back. */
static void name_parents(struct chart *c, const struct object *o)
{
	const struct what what = track_of(c, o)->what;
	struct object_track *track;

	while ((o = lifecycle_parent(&c->lifecycle, o)) && (track = track_of(c, o))->held) {
		track->what = what;
		release(c, o, track);
	}
}

/* Ends the slices of an object at its last entry. */
static void end_life(struct chart *c, const struct object *o, struct object_track *track)
{
	struct event_at at = at_entry(c, track, o->last, track->lcore);
	struct event_id id = id_of(c, o);

	release(c, o, track);
	event_end(c->out, &at, &id, c->states.all[o->state]);
	if (track->what.known)
		event_end(c->out, &at, &id, name_of(c, &track->what));
	event_end(c->out, &at, &id, label_of(c, track));
}

static void start_life(struct chart *c, const struct lifecycle_change *change, const struct entry *e)
{
	const struct object *related = lifecycle_related(&c->lifecycle, e->line), *o = change->object;
	const struct object *parent = lifecycle_keep_parent(&c->lifecycle, o, e->line);
	struct object_track *track = track_of(c, o);

	if (change->before.entries)
		end_life(c, &change->before, track);
	*track = (struct object_track){.connection = connection_of(c, e->line, parent),
				       .what = what_of(e->line, &c->bdevs),
				       .first_lcore = e->at.lcore};
	event_begin(c->out, &e->at, &e->id, label_of(c, track), (struct slice){});
	if (parent && track_of(c, parent)->what.known && (!track->what.known || track->what.is_command))
		track->what = track_of(c, parent)->what;
	else if (track->what.known)
		name_parents(c, o);
	if (track->what.known)
		draw_what(c, o, track);
	else
		hold(c, track);
	if (related) {
		struct event_at from = event_at(related->last, track_of(c, related)->lcore, e->at.process);

		event_arrow_from(c->out, &from, ++c->arrows);
		event_arrow_to(c->out, &e->at, c->arrows);
	}
}

static void next_state(struct chart *c, const struct lifecycle_change *change, const struct entry *e)
{
	const struct object *related = lifecycle_related(&c->lifecycle, e->line), *o = change->object;
	struct object_track *track = track_of(c, o);

	event_end(events_of(c, track), &e->at, &e->id, c->states.all[change->before.state]);
	if (track->arrow)
		event_arrow_to(c->out, &e->at, track->arrow);
	track->arrow = 0;
	if (related) {
		track_of(c, related)->arrow = ++c->arrows;
		event_arrow_from(c->out, &e->at, c->arrows);
	}
}

static void draw_object(struct chart *c, const struct object *o, const struct entry *e)
{
	uint64_t depth = c->lifecycle.in_progress[o->type];
	struct object_track *track = track_of(c, o);
	struct out *events = events_of(c, track);

	event_begin(events, &e->at, &e->id, c->states.all[o->state], out_contents(&c->line_args));
	if (track->held && (events->len > HELD_MAX || lifecycle_is_final(&c->lifecycle, o)))
		release(c, o, track);
	event_entry(c->out, &e->at, e->line->tpoint, out_contents(&c->line_args));
	track->lcore = e->at.lcore;
	if (c->depths[o->type] != depth)
		event_depth(c->out, &e->at, c->names[o->type].letter, c->names[o->type].family, depth);
	c->depths[o->type] = depth;
}

/* Finds the place of a line's lcore. Returns NULL, or what is wrong with the line. */
static const char *read_place(struct chart *c, const struct traceline *line, uint64_t ns, struct event_at *at,
			      uint32_t *place)
{
	uint64_t lcore;

	/* viewers store it in 32 bits with a sign */
	if (!number_decimal(line->lcore, &lcore) || lcore >= INT32_MAX)
		return "lcore is not an integer from 0 to 2147483646";
	*place = places_lcore(&c->places, line, lcore);
	draw_places(c, line);
	*at = event_at(ns, lcore, c->drawn[*place].process);
	return NULL;
}

/*
 * Draws an interval in which a reactor did not run, on its lcore's track. False, with nothing drawn, for any other
 * line. True if the line is malformed: *error says why.
 */
static bool draw_held(struct chart *c, const struct traceline *line, uint64_t ns, const char **error)
{
	struct reactors_interval interval;
	struct reactor *reactor;
	struct event_at at;
	uint32_t place;

	*error = reactors_line(&c->reactors, line, ns, &reactor, &interval);
	if (*error || !reactor)
		return *error;
	place = places_reactor(&c->places, reactor->lcore);
	if (place == MAP_NONE)
		return false;
	at = event_at(interval.begin, reactor->lcore, c->drawn[place].process);
	c->name.len = 0;
	out_text(&c->name, interval.kind == REACTORS_OFF_CPU ? "off CPU: " : "");
	reactors_write(&c->name, line);
	event_slice(c->out, &at, interval.end - interval.begin, out_contents(&c->name), out_contents(&c->line_args));
	return true;
}

static const char *draw_line(struct chart *c, const struct traceline *line)
{
	struct lifecycle_change change;
	struct entry e;
	const char *error;
	uint32_t place;
	uint64_t ns;

	e.line = line;
	c->line_args.len = 0;
	event_args(&c->line_args, line);
	error = traceline_time(line, &ns);
	if (!error && !line->object_id.p && draw_held(c, line, ns, &error))
		return error;
	if (!error)
		error = read_place(c, line, ns, &e.at, &place);
	if (!error)
		error = lifecycle_line(&c->lifecycle, line, ns, intern_add(&c->states, line->tpoint), &change);
	if (error)
		return error;
	if (change.event == LIFECYCLE_NONE) {
		event_instant(c->out, &e.at, line->tpoint, out_contents(&c->line_args));
		return NULL;
	}
	e.id = id_of(c, change.object);
	places_note_reactor(&c->places, place);
	if (change.event == LIFECYCLE_STARTS)
		start_life(c, &change, &e);
	else
		next_state(c, &change, &e);
	draw_object(c, change.object, &e);
	return NULL;
}

/* A tracelines_each_fn. Invalid UTF-8 is replaced before the line is drawn. */
static const char *draw(void *context, struct traceline *line, struct slice text)
{
	struct chart *c = context;
	const char *error;

	if (utf8_is_ascii(text))
		return draw_line(c, line);
	c->clean.len = 0;
	out_utf8(&c->clean, text);
	error = traceline_parse(&c->clean_line, out_contents(&c->clean));
	return error ? error : draw_line(c, &c->clean_line);
}

static void end_lives(struct chart *c)
{
	for (size_t i = 0; i < c->lifecycle.n; i++) {
		const struct object *o = &c->lifecycle.all[i];

		if (o->entries)
			end_life(c, o, track_of(c, o));
	}
}

/* Returns 0, or -1 when something was wrong with the input. */
static int draw_all(struct chart *c, const char *path)
{
	struct tracelines in;
	int status;

	if (tracelines_open(&in, path, "trace-chrome", c->out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	event_open(c->out);
	status = tracelines_each(&in, draw, c);
	end_lives(c);
	event_close(c->out);
	if (status == 0 && !in.lines.number) {
		warnx("%s: empty: there are no trace lines", in.lines.name);
		status = -1;
	}
	return status;
}

static void chart_free(struct chart *c)
{
	lifecycle_free(&c->lifecycle);
	intern_free(&c->types);
	intern_free(&c->states);
	intern_free(&c->bdevs);
	places_free(&c->places);
	reactors_free(&c->reactors);
	free(c->tracks);
	for (uint32_t i = 0; i < c->num_drawn; i++)
		free((char *)c->drawn[i].label.p);
	free(c->drawn);
	for (size_t i = 0; i < c->num_held; i++)
		out_close(&c->held[i]);
	free(c->held);
	free(c->spare);
	out_close(&c->name);
	out_close(&c->args);
	out_close(&c->line_args);
	out_close(&c->clean);
	traceline_free(&c->clean_line);
}

static const struct cli_option options[] = {{}};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print the trace lines of FILE as JSON for viewers of Chrome traces; without FILE, or when it\n"
	"is -, those of standard input.\n",
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | trace-chrome > trace.json\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | trace-chrome | gzip > trace.json.gz\n",
	options,
};

int main(int argc, char **argv)
{
	static struct chart chart = {
		.name.fd = OUT_MEMORY, .args.fd = OUT_MEMORY, .line_args.fd = OUT_MEMORY, .clean.fd = OUT_MEMORY};
	int status = EXIT_SUCCESS;
	const char *path;
	struct out out;

	cli_parse(&cli, argc, argv);
	path = cli_operand(argc, argv, "one file of trace lines");
	chart.out = &out;
	chart.lifecycle.types = &chart.types;
	chart.lifecycle.states = &chart.states;
	out_open(&out, STDOUT_FILENO);
	if (draw_all(&chart, path) != 0)
		status = EXIT_FAILURE;
	chart_free(&chart);
	return cli_close(&out, status);
}
