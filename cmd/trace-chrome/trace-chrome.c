/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-chrome: converts trace lines to JSON for viewers of Chrome traces. Each lcore has a track with
 * its entries. Each object, such as a request, has one with a slice for its life, in it one that says
 * what it is, and in that a slice for each state. Arrows lead from a request to what it started, and
 * back. A counter shows how many objects are in work.
 */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "connection.h"
#include "event.h"
#include "intern.h"
#include "io.h"
#include "json.h"
#include "lifecycle.h"
#include "mem.h"
#include "number.h"
#include "out.h"
#include "reactors.h"
#include "tracelines.h"
#include "what.h"

/* Bytes of events that are held back until it is known what their object is. */
enum { HELD_MAX = 8 << 10 };

/* What is kept of an object besides its life, in an array parallel to lifecycle.all. */
struct object_track {
	uint32_t lcore; /* of its last entry */
	uint32_t process;
	uint32_t label; /* in labels: the name of its life */
	uint64_t arrow; /* one that leads to its next entry; 0: none */
	struct what what;
	uint32_t first_lcore; /* of its first entry */
	uint32_t held;        /* one more than the index in held; 0: nothing is held back */
};

struct linked {
	struct slice key, value;
};

struct chart {
	struct out *out;
	struct lifecycle lifecycle;
	struct intern types, states, labels, bdevs, sources;
	struct object_track *tracks;
	size_t num_tracks;
	struct map lcores; /* those that have a track, with their process */
	struct map owners; /* by lcore: the process of the first entry about an object */
	struct reactors reactors;
	uint64_t depths[LIFECYCLE_TYPES]; /* what was drawn last of lifecycle.in_work */
	uint64_t arrows;                  /* how many were drawn */
	struct event_id ids[LIFECYCLE_TYPES];

	/* events of objects that may get a name from what they start, and the indexes that are free */
	struct out *held;
	uint32_t *spare;
	size_t num_held, cap_held, num_spare, cap_spare;

	/* of the annotation that is being made a label */
	struct linked *members;
	size_t num_members, cap_members;
	struct out label, name, args, line_args;
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

/* The id of the type's objects, without a number. */
static struct event_id id_of_type(const struct chart *c, uint32_t number)
{
	struct slice type = c->types.all[number], letter = lifecycle_letter(type);

	/* viewers pair by id: the type that had the letter first keeps it to itself */
	for (uint32_t i = 0; i < number; i++)
		if (slice_equal(lifecycle_letter(c->types.all[i]), letter))
			return (struct event_id){.letter = letter, .family = lifecycle_family(type)};
	return (struct event_id){.letter = letter};
}

static struct event_id id_of(struct chart *c, const struct object *o)
{
	struct event_id *id = &c->ids[o->type];

	if (!id->letter.p)
		*id = id_of_type(c, o->type);
	id->number = o->number;
	return *id;
}

/* Finds the members of an annotation that describe it: not its address, and no objects. */
static void find_members(struct chart *c, struct slice annotation)
{
	struct linked m;
	struct json j;

	c->num_members = 0;
	json_init(&j, annotation.p, annotation.n);
	for (json_object(&j); json_key(&j, &m.key) && json_value(&j, &m.value);) {
		if (json_is(m.key, "ptr") || m.value.p[0] == '{' || m.value.p[0] == '[')
			continue;
		if (m.value.p[0] == '"')
			m.value = slice_between(m.value.p + 1, m.value.p + m.value.n - 1);
		c->members = mem_room(c->members, c->num_members, &c->cap_members);
		c->members[c->num_members++] = m;
	}
}

static struct slice member(const struct chart *c, const char *key)
{
	for (size_t i = 0; i < c->num_members; i++)
		if (json_is(c->members[i].key, key))
			return c->members[i].value;
	return (struct slice){};
}

/*
 * trace-join's annotation: a short name if it is a qpair's, then all of it, as key=value, …; empty without one. Valid
 * until the next call.
 */
static struct slice annotation(struct chart *c, const struct traceline *line)
{
	struct slice host;
	size_t arg = 0;

	while (arg < line->num_args && line->args[arg].value.p[0] != '{')
		arg++;
	if (arg == line->num_args)
		return (struct slice){};
	find_members(c, line->args[arg].value);
	host = member(c, "hostnqn");
	c->label.len = 0;
	if (host.n) {
		connection_write_name(&c->label, connection_host(host), member(c, "qid"));
		out_text(&c->label, ": ");
	}
	/* from the last one on, as the last ones, such as names of hosts, say most */
	for (size_t i = c->num_members; i-- > 0;) {
		out_slice(&c->label, c->members[i].key);
		out_char(&c->label, '=');
		out_slice(&c->label, c->members[i].value);
		out_text(&c->label, i ? ", " : "");
	}
	return out_kept(&c->label);
}

/* The name of a life: the annotation of an argument, or the related object's name, or the owner. */
static uint32_t label_of(struct chart *c, const struct traceline *line, const struct object *related)
{
	struct slice label = annotation(c, line);

	if (!label.n && related)
		return track_of(c, related)->label;
	if (!label.n)
		label = line->owner.n ? line->owner : line->poller.n ? line->poller : slice_of("objects");
	return intern_add(&c->labels, label);
}

/* Where the events of an object go now. */
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
	return out_kept(&c->name);
}

/* The slice that says what an object is, from its start on. */
static void begin_what(struct chart *c, const struct object *o, const struct object_track *track)
{
	struct event_at at = event_at(o->first, track->first_lcore, track->process);

	c->args.len = 0;
	what_write_args(&c->args, &track->what, &c->bdevs);
	event_begin(c->out, &at, id_of(c, o), name_of(c, &track->what), out_kept(&c->args));
}

/* Writes the events that were held back: it is known what the object is, or never will be. */
static void release(struct chart *c, const struct object *o, struct object_track *track)
{
	struct out *held = events_of(c, track);

	if (!track->held)
		return;
	if (track->what.known)
		begin_what(c, o, track);
	out_slice(c->out, out_kept(held));
	held->len = 0;
	c->spare = mem_room(c->spare, c->num_spare, &c->cap_spare);
	c->spare[c->num_spare++] = track->held;
	track->held = 0;
}

/* The objects above one that says what it is are the same, as far as they do not know. */
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
	struct event_at at = event_at(o->last, track->lcore, track->process);

	release(c, o, track);
	event_end(c->out, &at, id_of(c, o), c->states.all[o->state]);
	if (track->what.known)
		event_end(c->out, &at, id_of(c, o), name_of(c, &track->what));
	event_end(c->out, &at, id_of(c, o), c->labels.all[track->label]);
}

static void start_life(struct chart *c, const struct lifecycle_change *change, const struct event_at *at,
		       const struct traceline *line)
{
	const struct object *related = lifecycle_related(&c->lifecycle, line), *o = change->object;
	const struct object *parent = lifecycle_keep_parent(&c->lifecycle, o, line);
	struct object_track *track = track_of(c, o);

	if (change->before.entries)
		end_life(c, &change->before, track);
	*track = (struct object_track){.label = label_of(c, line, related),
				       .what = what_of(line, &c->bdevs),
				       .first_lcore = at->lcore,
				       .process = at->process};
	event_begin(c->out, at, id_of(c, o), c->labels.all[track->label], (struct slice){});
	if (parent && track_of(c, parent)->what.known && (!track->what.known || track->what.is_command))
		track->what = track_of(c, parent)->what;
	else if (track->what.known)
		name_parents(c, o);
	if (track->what.known)
		begin_what(c, o, track);
	else
		hold(c, track);
	if (related) {
		struct event_at from = event_at(related->last, track_of(c, related)->lcore, at->process);

		event_arrow_from(c->out, &from, ++c->arrows);
		event_arrow_to(c->out, at, c->arrows);
	}
}

static void next_state(struct chart *c, const struct lifecycle_change *change, const struct event_at *at,
		       const struct traceline *line)
{
	const struct object *related = lifecycle_related(&c->lifecycle, line), *o = change->object;
	struct object_track *track = track_of(c, o);

	event_end(events_of(c, track), at, id_of(c, o), c->states.all[change->before.state]);
	if (track->arrow)
		event_arrow_to(c->out, at, track->arrow);
	track->arrow = 0;
	if (related) {
		track_of(c, related)->arrow = ++c->arrows;
		event_arrow_from(c->out, at, c->arrows);
	}
}

static void draw_object(struct chart *c, const struct object *o, const struct event_at *at,
			const struct traceline *line)
{
	uint64_t depth = c->lifecycle.in_work[o->type];
	struct object_track *track = track_of(c, o);
	struct out *events = events_of(c, track);

	event_begin(events, at, id_of(c, o), c->states.all[o->state], out_kept(&c->line_args));
	if (track->held && (events->len > HELD_MAX || lifecycle_is_final(&c->lifecycle, o)))
		release(c, o, track);
	event_entry(c->out, at, line->tpoint, out_kept(&c->line_args));
	track->lcore = at->lcore;
	if (c->depths[o->type] != depth)
		event_depth(c->out, at->ns, id_of(c, o), depth);
	c->depths[o->type] = depth;
}

/* Reads where a line is from; a new source, and a new lcore, get tracks. Returns NULL, or what is wrong with it. */
static const char *read_place(struct chart *c, const struct traceline *line, uint64_t ns, struct event_at *at)
{
	uint32_t *known, sources = c->sources.n, process = EVENT_PROCESS;
	uint64_t number;

	/* viewers keep it in 32 bits with a sign */
	if (!number_decimal(line->lcore, &number) || number >= INT32_MAX)
		return "lcore is not an integer from 0 to 2147483646";
	if (line->source.p)
		process += 1 + intern_add(&c->sources, line->source);
	if (c->sources.n > sources)
		event_process(c->out, process, line->source);
	*at = event_at(ns, number, process);
	known = map_put(&c->lcores, (uint64_t)process << 32 | number);
	if (*known == MAP_NONE)
		event_track(c->out, at, line->thread);
	*known = true;
	return NULL;
}

/* The lcore's track is that of the first source that has entries about objects on it: see reactors.h. */
static void note_owner(struct chart *c, const struct event_at *at)
{
	uint32_t *process = map_put(&c->owners, at->lcore);

	if (*process == MAP_NONE)
		*process = at->process;
}

/* Draws a time in which a reactor did not run, on its lcore's track. False, with nothing drawn, for any other line. */
static bool draw_held(struct chart *c, const struct traceline *line, uint64_t ns, const char **error)
{
	struct reactors_interval interval;
	struct reactor *reactor;
	struct event_at at;
	uint32_t process;

	*error = reactors_line(&c->reactors, line, ns, &reactor, &interval);
	if (*error || !reactor)
		return *error;
	process = map_get(&c->owners, reactor->lcore);
	if (process == MAP_NONE)
		return false;
	at = event_at(interval.begin, reactor->lcore, process);
	c->name.len = 0;
	out_text(&c->name, interval.kind == REACTORS_OFF_CPU ? "off CPU: " : "");
	reactors_write(&c->name, line);
	event_slice(c->out, &at, interval.end - interval.begin, out_kept(&c->name), out_kept(&c->line_args));
	return true;
}

/* A tracelines_each_fn. */
static const char *draw(void *context, struct traceline *line, struct slice text)
{
	struct chart *c = context;
	struct lifecycle_change change;
	struct event_at at;
	const char *error;
	uint64_t ns;

	(void)text;
	c->line_args.len = 0;
	event_args(&c->line_args, line);
	error = traceline_time(line, &ns);
	if (!error && !line->object_id.p && draw_held(c, line, ns, &error))
		return error;
	if (!error)
		error = read_place(c, line, ns, &at);
	if (!error)
		error = lifecycle_line(&c->lifecycle, line, ns, intern_add(&c->states, line->tpoint), &change);
	if (error)
		return error;
	if (change.event == LIFECYCLE_NONE) {
		event_instant(c->out, &at, line->tpoint, out_kept(&c->line_args));
		return NULL;
	}
	note_owner(c, &at);
	if (change.event == LIFECYCLE_STARTS)
		start_life(c, &change, &at, line);
	else
		next_state(c, &change, &at, line);
	draw_object(c, change.object, &at, line);
	return NULL;
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
	intern_free(&c->labels);
	intern_free(&c->bdevs);
	intern_free(&c->sources);
	map_free(&c->lcores);
	map_free(&c->owners);
	reactors_free(&c->reactors);
	free(c->tracks);
	free(c->members);
	for (size_t i = 0; i < c->num_held; i++)
		out_close(&c->held[i]);
	free(c->held);
	free(c->spare);
	out_close(&c->label);
	out_close(&c->name);
	out_close(&c->args);
	out_close(&c->line_args);
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
		.label.fd = OUT_MEMORY, .name.fd = OUT_MEMORY, .args.fd = OUT_MEMORY, .line_args.fd = OUT_MEMORY};
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
