/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-chrome: converts trace lines for chrome://tracing and Perfetto. Each lcore has a track with
 * its entries. Each object, such as a request, has one with a slice for its life, and in it a slice
 * for each state. Arrows lead from a request to what it started, and back. A counter shows how many
 * objects are in work.
 */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "event.h"
#include "intern.h"
#include "io.h"
#include "json.h"
#include "lifecycle.h"
#include "mem.h"
#include "number.h"
#include "out.h"
#include "tracelines.h"

/* What is kept of an object besides its life, in an array parallel to lifecycle.all. */
struct object_track {
	uint32_t lcore; /* of its last entry */
	uint32_t label; /* in labels: the name of its life */
	uint64_t arrow; /* one that leads to its next entry; 0: none */
};

struct linked {
	struct slice key, value;
};

struct chart {
	struct out *out;
	struct lifecycle lifecycle;
	struct intern types, states, labels;
	struct object_track *tracks;
	size_t num_tracks;
	struct map lcores;                /* those that have a track */
	uint64_t depths[LIFECYCLE_TYPES]; /* what was drawn last of lifecycle.in_work */
	uint64_t arrows;                  /* how many were drawn */

	/* of the annotation that is being made a label */
	struct linked *members;
	size_t num_members, cap_members;
	struct out label;
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

static struct event_id id_of(const struct chart *c, const struct object *o)
{
	struct slice type = c->types.all[o->type], letter = lifecycle_letter(type);

	/* viewers pair by id: the type that had the letter first keeps it to itself */
	for (uint32_t i = 0; i < o->type; i++)
		if (slice_equal(lifecycle_letter(c->types.all[i]), letter))
			return (struct event_id){letter, lifecycle_family(type), o->number};
	return (struct event_id){.letter = letter, .number = o->number};
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

/* trace-join's annotation, as key=value, …; empty without one. Valid until the next call. */
static struct slice annotation(struct chart *c, const struct traceline *line)
{
	size_t arg = 0;

	while (arg < line->num_args && line->args[arg].value.p[0] != '{')
		arg++;
	if (arg == line->num_args)
		return (struct slice){};
	find_members(c, line->args[arg].value);
	c->label.len = 0;
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

/* Ends the slices of an object at its last entry. */
static void end_life(struct chart *c, const struct object *o, const struct object_track *track)
{
	struct event_at at = {o->last, track->lcore};

	event_end(c->out, at, id_of(c, o), c->states.all[o->state]);
	event_end(c->out, at, id_of(c, o), c->labels.all[track->label]);
}

static void start_life(struct chart *c, const struct lifecycle_change *change, struct event_at at,
		       const struct traceline *line)
{
	const struct object *related = lifecycle_related(&c->lifecycle, line), *o = change->object;
	struct object_track *track = track_of(c, o);

	if (change->before.entries)
		end_life(c, &change->before, track);
	*track = (struct object_track){.label = label_of(c, line, related)};
	event_begin(c->out, at, id_of(c, o), c->labels.all[track->label], NULL);
	if (related) {
		struct event_at from = {related->last, track_of(c, related)->lcore};

		event_arrow_from(c->out, from, ++c->arrows);
		event_arrow_to(c->out, at, c->arrows);
	}
}

static void next_state(struct chart *c, const struct lifecycle_change *change, struct event_at at,
		       const struct traceline *line)
{
	const struct object *related = lifecycle_related(&c->lifecycle, line), *o = change->object;
	struct object_track *track = track_of(c, o);

	event_end(c->out, at, id_of(c, o), c->states.all[change->before.state]);
	if (track->arrow)
		event_arrow_to(c->out, at, track->arrow);
	track->arrow = 0;
	if (related) {
		track_of(c, related)->arrow = ++c->arrows;
		event_arrow_from(c->out, at, c->arrows);
	}
}

static void draw_object(struct chart *c, const struct object *o, struct event_at at, const struct traceline *line)
{
	uint64_t depth = c->lifecycle.in_work[o->type];

	event_begin(c->out, at, id_of(c, o), c->states.all[o->state], line);
	event_entry(c->out, at, line);
	track_of(c, o)->lcore = at.lcore;
	if (c->depths[o->type] != depth)
		event_depth(c->out, at.ns, id_of(c, o), depth);
	c->depths[o->type] = depth;
}

/* Reads the lcore; a new one gets a track. Returns NULL, or what is wrong with the line. */
static const char *read_lcore(struct chart *c, const struct traceline *line, uint32_t *lcore)
{
	uint64_t number;
	uint32_t *known;

	/* viewers keep it in 32 bits with a sign */
	if (!number_decimal(line->lcore, &number) || number >= INT32_MAX)
		return "lcore is not an integer from 0 to 2147483646";
	known = map_put(&c->lcores, number);
	if (*known == MAP_NONE)
		event_track(c->out, number, line->thread);
	*known = true;
	*lcore = number;
	return NULL;
}

/* A tracelines_each_fn. */
static const char *draw(void *context, struct traceline *line, struct slice text)
{
	struct chart *c = context;
	struct lifecycle_change change;
	struct event_at at;
	const char *error;

	(void)text;
	error = traceline_ns(line->us, &at.ns);
	if (!error)
		error = read_lcore(c, line, &at.lcore);
	if (!error)
		error = lifecycle_line(&c->lifecycle, line, at.ns, intern_add(&c->states, line->tpoint), &change);
	if (error)
		return error;
	if (change.event == LIFECYCLE_NONE) {
		event_instant(c->out, at, line);
		return NULL;
	}
	if (change.event == LIFECYCLE_STARTS)
		start_life(c, &change, at, line);
	else
		next_state(c, &change, at, line);
	draw_object(c, change.object, at, line);
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
	map_free(&c->lcores);
	free(c->tracks);
	free(c->members);
	out_close(&c->label);
}

static const struct cli_option options[] = {{}};

static const struct cli cli = {
	"Usage: %s [OPTION]... [FILE]\n"
	"Print the trace lines of FILE as a trace for chrome://tracing and ui.perfetto.dev; without FILE, or when it\n"
	"is -, those of standard input.\n",
	"Examples:\n"
	"  trace-dump nvmf_trace.pid1234 | trace-chrome > trace.json\n"
	"  trace-dump nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt | trace-chrome | gzip > trace.json.gz\n",
	options,
};

int main(int argc, char **argv)
{
	static struct chart chart = {.label.fd = OUT_MEMORY};
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
