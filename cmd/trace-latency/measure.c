/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"

#include <err.h>
#include <stdlib.h>

#include "io.h"
#include "mem.h"
#include "tracelines.h"

/* Marks of an object. */
enum {
	TOUCHED = 1,  /* in measure.touched */
	RECORDED = 2, /* its life was recorded in an interval */
	WENT_ON = 4,  /* after it was recorded */
};

/* Limit of levels of related objects, for malformed input. */
enum { LEVELS_MAX = 32 };

/* A single entry is a life as well if it has its object's age. */
static bool is_life(const struct object *o)
{
	return o->entries > 1 || o->age;
}

static void record_life(struct measure *m, const struct object *o)
{
	m->measured++;
	rows_record(m->rows, o->note, o->type, ROWS_LIFE, ROWS_LIFE, o->age + (o->last - o->first));
}

static void end_life(struct measure *m, const struct object *o)
{
	if (o->marks & RECORDED)
		return;
	if (!is_life(o)) {
		m->single_entry++;
		return;
	}
	m->late += o->last < m->rows->interval.from;
	record_life(m, o);
}

/* Notes that an object has an entry in this interval. */
static void touch(struct measure *m, struct object *o)
{
	if (o->marks & RECORDED && !(o->marks & WENT_ON)) {
		o->marks |= WENT_ON;
		m->cut_short++;
	}
	if (!m->interval || o->marks & TOUCHED)
		return;
	o->marks |= TOUCHED;
	m->touched = mem_room(m->touched, m->num_touched, &m->cap_touched);
	m->touched[m->num_touched++] = o - m->lifecycle.all;
}

/* Ends the lives that have their last entry in this interval, as far as that is known now. */
static void end_touched(struct measure *m)
{
	for (size_t i = 0; i < m->num_touched; i++) {
		struct object *o = &m->lifecycle.all[m->touched[i]];

		o->marks &= ~TOUCHED;
		if (o->entries && !(o->marks & RECORDED) && is_life(o) && lifecycle_is_final(&m->lifecycle, o)) {
			record_life(m, o);
			o->marks |= RECORDED;
		}
	}
	m->num_touched = 0;
}

/* Prints the interval that has ended, and starts the one that contains this time. */
static void next_interval(struct measure *m, uint64_t ns)
{
	struct rows_interval *interval = &m->rows->interval;

	if (interval->to) {
		end_touched(m);
		m->print(m->rows, m->out);
		rows_clear(m->rows);
	}
	interval->from = ns - ns % m->interval;
	if (__builtin_add_overflow(interval->from, m->interval, &interval->to))
		interval->to = UINT64_MAX;
}

static const char *start_life(struct measure *m, struct lifecycle_change *change, const struct traceline *line,
			      struct slice text)
{
	struct object *o = change->object, *related;
	struct slice inherited = {}, group;
	const char *error = NULL;

	if (change->before.entries)
		end_life(m, &change->before);
	o->marks &= TOUCHED;
	touch(m, o);
	related = m->group->n ? lifecycle_related(&m->lifecycle, line) : NULL;
	if (related)
		inherited = m->rows->groups.all[related->note];
	group = group_of(m->group, line, text, inherited);
	if (group.n > GROUP_MAX)
		error = "a group of more than 4 KiB: group by something else";
	else if ((o->note = intern_add_below(&m->rows->groups, group, ROWS_GROUPS)) == MAP_NONE)
		error = "more than 16777216 groups: group by something else";
	/* the object is not followed then */
	if (error)
		o->entries = 0;
	return error;
}

/* Records that an object has left its state. */
static void move(struct measure *m, const struct object *from, struct object *to)
{
	touch(m, to);
	m->measured++;
	rows_record(m->rows, to->note, to->type, from->state, to->state, to->last - from->last);
}

/* Uses the line as an entry of the objects above its own, which may be NULL. */
static void step_related(struct measure *m, const struct object *own, const struct traceline *line, uint64_t ns,
			 uint32_t state)
{
	struct object *o = NULL;

	if (line->related.p)
		o = lifecycle_related(&m->lifecycle, line);
	else if (own)
		o = lifecycle_parent(&m->lifecycle, own);
	for (unsigned level = 0; o && o != own && level < LEVELS_MAX; level++) {
		struct object before = *o;

		if (lifecycle_step(&m->lifecycle, o, ns, state))
			move(m, &before, o);
		o = lifecycle_parent(&m->lifecycle, o);
	}
}

/* A tracelines_each_fn. */
static const char *measure_line(void *context, struct traceline *line, struct slice text)
{
	struct measure *m = context;
	struct lifecycle_change change;
	const char *error;
	uint32_t state;
	uint64_t ns;

	if (!line->object_id.p && !(m->related && line->related.p))
		return NULL;
	error = traceline_time(line, &ns);
	if (error)
		return error;
	if (m->interval && ns >= m->rows->interval.to)
		next_interval(m, ns);
	state = intern_add_below(&m->rows->states, line->tpoint, ROWS_STATES);
	if (state == MAP_NONE)
		return "more than 65535 tracepoints";
	error = lifecycle_line(&m->lifecycle, line, ns, state, &change);
	if (!error && change.event == LIFECYCLE_STARTS)
		error = start_life(m, &change, line, text);
	else if (!error && change.event == LIFECYCLE_GOES_ON)
		move(m, &change.before, change.object);
	if (error || !m->related)
		return error;
	if (change.event == LIFECYCLE_STARTS)
		lifecycle_keep_parent(&m->lifecycle, change.object, line);
	step_related(m, change.event == LIFECYCLE_NONE ? NULL : change.object, line, ns, state);
	return NULL;
}

/* Ends the lives that are left, or counts their objects as in progress when the trace ended. */
static void end_lives(struct measure *m)
{
	lifecycle_end(&m->lifecycle);
	for (size_t i = 0; i < m->lifecycle.n; i++) {
		const struct object *o = &m->lifecycle.all[i];

		if (!o->entries)
			continue;
		if (lifecycle_is_final(&m->lifecycle, o))
			end_life(m, o);
		else if (!(o->marks & RECORDED))
			m->in_progress++;
		else
			m->cut_short += !(o->marks & WENT_ON);
	}
}

/* Each file has its own addresses and times. */
static void forget_file(struct measure *m)
{
	lifecycle_free(&m->lifecycle);
	m->num_touched = 0;
	m->measured = m->single_entry = m->in_progress = m->late = m->cut_short = 0;
}

int measure_lines(struct measure *m, const char *path)
{
	struct tracelines in;
	int status;

	forget_file(m);
	m->lifecycle.types = &m->rows->types;
	m->lifecycle.states = &m->rows->states;
	if (tracelines_open(&in, path, "trace-latency", m->out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	status = tracelines_each(&in, measure_line, m);
	m->lines = in.lines.number;
	end_lives(m);
	return status;
}

void measure_free(struct measure *m)
{
	lifecycle_free(&m->lifecycle);
	free(m->touched);
}
