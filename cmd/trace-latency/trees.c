/* SPDX-License-Identifier: BSD-3-Clause */
#include "trees.h"

#include <err.h>
#include <stdlib.h>

#include "each_traceline.h"
#include "wall.h"
#include "io.h"
#include "mem.h"

/*
 * The least part of a tree that must have entries for it to be measured at the end of an interval. No tree of a real
 * trace is so large that this matters: it keeps the time in proportion to the lines.
 */
enum { PART = 64 };

/* The area of each span. */
struct tree_span {
	uint32_t of_line;  /* its group as far as its first line has that */
	uint32_t parent;   /* its parent's group plus 1; 0: not known */
	uint32_t measured; /* states */
	uint32_t touches;  /* of a root: entries in intervals after which its tree was not measured */
	uint32_t size;     /* of a root: spans in its tree, when it was measured */
	bool is_touched;   /* has an entry in the interval */
	bool has_life;     /* its life was recorded, maybe at the end of an interval */
	bool went_on;      /* after that */
	bool is_over;      /* was measured after its end */
};

static struct tree_span *area_of(const struct span *s)
{
	return s->tool;
}

static void add_states(struct trees *t, const struct span *s)
{
	for (size_t i = 0; i < s->n; i++) {
		t->states = mem_room(t->states, t->num_states, &t->cap_states);
		t->states[t->num_states++] = (struct tree_state){s->states[i], i >= area_of(s)->measured};
	}
	for (const struct span *child = s->child; child; child = child->next)
		add_states(t, child);
}

static int by_entry(const void *a, const void *b)
{
	const struct span_state *x = &((const struct tree_state *)a)->at, *y = &((const struct tree_state *)b)->at;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int32_t)(x->order - y->order) < 0 ? -1 : 1;
}

static void record_move(struct trees *t, const struct span *s, uint32_t group, const struct span_state *from,
			const struct span_state *to)
{
	rows_record(t->rows, group, s->type, from->state, to->state, to->ns - from->ns);
}

/*
 * Whether a life is over, and was not recorded before. ends: the span is measured for the first time after its end, and
 * counted if it has no life.
 */
static bool has_new_life(struct trees *t, const struct span *s, bool is_life, bool ends)
{
	struct tree_span *area = area_of(s);

	if (spans_is_open(&t->spans, s)) {
		if (area->has_life)
			t->cut_short += ends && !area->went_on;
		else
			t->in_progress += ends;
		return false;
	}
	if (spans_is_lost(&t->spans, s)) {
		t->lost += ends;
		return false;
	}
	if (area->has_life)
		return false;
	t->single_entry += ends && !is_life;
	if (!is_life)
		return false;
	area->has_life = true;
	t->late += s->last < t->rows->interval.from;
	return true;
}

/* Records a span's states since the last time, and its life if that is over. */
static void record(struct trees *t, const struct span *s, uint32_t group, bool ends)
{
	struct tree_span *area = area_of(s);
	uint64_t last = s->last;
	size_t n = s->n;

	if (!t->related) {
		for (size_t i = area->measured ? area->measured : 1; i < n; i++)
			record_move(t, s, group, &s->states[i - 1], &s->states[i]);
	} else {
		t->num_states = 0;
		add_states(t, s);
		n = t->num_states;
		qsort(t->states, n, sizeof(*t->states), by_entry);
		for (size_t i = 1; i < n; i++)
			if (t->states[i].is_new)
				record_move(t, s, group, &t->states[i - 1].at, &t->states[i].at);
		last = t->states[n - 1].at.ns;
	}
	area->measured = s->n;
	t->measured += n > 1 || s->age;
	if (!has_new_life(t, s, n > 1 || s->age, ends))
		return;
	rows_record(t->rows, group, s->type, ROWS_LIFE, ROWS_LIFE, s->age + (last - s->first));
	if (s->reply != UINT64_MAX)
		rows_record(t->rows, group, s->type, ROWS_LIFE, ROWS_TO_REPLY, spans_to_reply(&t->spans, s));
}

static void rate(struct trees *t, const struct span *s, uint32_t group)
{
	uint64_t blocks;

	request_io_read(&t->io, &t->spans, s);
	t->no_peak += !rates_add(t->rates,
				 &(struct rates_request){.name = {group, s->type},
							 .end = s->last,
							 .life = spans_life(&t->spans, s),
							 .blocks = request_io_number(&t->io, REQUEST_IO_BLOCKS, &blocks)
									   ? &blocks
									   : NULL},
				 trees_slot(t));
}

static void share(struct trees *t, const struct span *s, uint32_t group, bool ends)
{
	t->measured++;
	if (s->has_parent || !has_new_life(t, s, true, ends))
		return;
	if (t->lcores)
		lcore_rows_request(t->lcores, &t->spans, s);
	if (t->rates)
		rate(t, s, group);
	if (!t->shares)
		return;
	self_time_measure(&t->self, &t->spans, s);
	overlaps_measure(&t->overlaps, &t->spans, s);
	shares_add(t->shares, &(struct shares_request){.name = {group, s->type},
						       .life = spans_life(&t->spans, s),
						       .layers = t->self.layers,
						       .overlaps = &t->overlaps,
						       .is_rare = overlaps_silence_is_rare(&t->overlaps, &t->spans),
						       .facts = proofs_facts(&t->proofs, s)});
	t->shared++;
	t->covered[SPANS_OFFCPUSNOOP] += t->overlaps.covered[OVERLAP_OFF_CPU];
	t->covered[SPANS_BIOSNOOP] += t->overlaps.covered[OVERLAP_DISK];
}

/* Counts a request that has ended by whether its life is known. */
static void see_end(struct trees *t, const struct span *s)
{
	bool longer = spans_is_longer(&t->spans, s);
	uint64_t *longest = longer ? &t->longest : &t->longest_life, life = spans_life(&t->spans, s);

	t->incomplete += longer;
	*longest = life > *longest ? life : *longest;
}

/* Whether a tree is left out because of its queue. */
static bool is_left_out(struct trees *t, const struct span *root)
{
	struct tree_span *area = area_of(root);

	if (t->admin || !admin_has(root))
		return false;
	t->left_out += root->ended && !area->is_over && !root->has_parent;
	area->is_over = root->ended;
	return true;
}

/*
 * Measures a tree; with the spans in it that have not ended only at the end of an interval. Returns the number of
 * spans.
 */
static uint32_t measure_tree(struct trees *t, const struct span *s)
{
	struct tree_span *area = area_of(s);
	uint32_t group = group_of_span(t->group, &t->spans, s, area->of_line, area->parent - 1);
	bool ends = s->ended && !area->is_over;
	uint32_t size = 1;

	area->is_touched = false;
	area->is_over = s->ended;
	t->refused += ends && group == MAP_NONE;
	t->unknown += ends && group != MAP_NONE && s->unknown;
	if (ends && !s->has_parent)
		see_end(t, s);
	if (group != MAP_NONE && !s->unknown) {
		if (t->shares || t->rates || t->lcores)
			share(t, s, group, ends);
		else
			record(t, s, group, ends);
	}
	for (struct span *child = s->child; child; child = child->next) {
		area_of(child)->parent = group + 1;
		if (child->ended || !s->ended)
			size += measure_tree(t, child);
	}
	return size;
}

/* Notes that a span has an entry in the interval, or has ended in it. */
static void touch(struct trees *t, const struct span *s)
{
	if (!t->interval || area_of(s)->is_touched)
		return;
	area_of(s)->is_touched = true;
	t->touched = mem_room(t->touched, t->num_touched, &t->cap_touched);
	t->touched[t->num_touched++] = s;
}

/* Ends the interval of the lines so far, if there is one, and starts that which contains this time. */
static void next_interval(struct trees *t, uint64_t ns)
{
	struct rows_interval *interval = &t->rows->interval;

	for (size_t i = 0; i < t->num_touched; i++) {
		const struct span *s = t->touched[i];
		struct tree_span *root;

		/* a span without states is free */
		if (!s->n || !area_of(s)->is_touched)
			continue;
		area_of(s)->is_touched = false;
		while (s->parent)
			s = s->parent;
		root = area_of(s);
		if (++root->touches < root->size / PART)
			continue;
		root->touches = 0;
		if (!is_left_out(t, s))
			root->size = measure_tree(t, s);
	}
	t->num_touched = 0;
	if (interval->to)
		t->print(t->context);
	rows_clear(t->rows);
	if (t->shares)
		shares_free(t->shares);
	if (t->rates)
		rates_free(t->rates);
	interval->from = ns - ns % t->interval;
	if (t->lcores)
		lcore_rows_start(t->lcores, interval->from);
	if (__builtin_add_overflow(interval->from, t->interval, &interval->to))
		interval->to = UINT64_MAX;
}

/* A spans.emit function. A span below another one is measured when that one ends. */
static void measure_span(void *context, const struct span *s)
{
	if (s->parent)
		touch(context, s);
	else if (!is_left_out(context, s))
		measure_tree(context, s);
}

static void find_proofs(struct trees *t, struct span *s, uint32_t before, const struct traceline *line)
{
	size_t arg;

	if (before == MAP_NONE)
		s->connection = connections_find(&t->connections, line, &arg);
	proofs_see(&t->proofs, s, before);
}

/* A spans.entry function. */
static void see_entry(void *context, struct span *s, uint32_t before, const struct traceline *line, struct slice text)
{
	struct trees *t = context;
	struct tree_span *area = area_of(s);

	if (before == MAP_NONE)
		*area = (struct tree_span){.of_line = group_of_line(t->group, line, text)};
	if (t->shares)
		find_proofs(t, s, before, line);
	if (area->has_life && !area->went_on) {
		area->went_on = true;
		t->cut_short++;
	}
	touch(t, s);
}

/* A spans.held function. */
static void see_held(void *context, const struct reactor *reactor, struct reactors_interval *interval,
		     const struct traceline *line)
{
	struct trees *t = context;

	lcore_rows_hold(t->lcores, &t->spans, reactor, interval, line);
}

/* Whether a line is of another tool than trace-dump: the target did not write it. */
static bool is_live(const struct traceline *line)
{
	return !line->object_id.p && (reactors_is(line->tpoint) || disks_is(line->tpoint));
}

/* Sets *ns to the time of a line, which may end an interval. Returns NULL, or what is wrong with it. */
static const char *see_time(struct trees *t, const struct traceline *line, uint64_t *ns)
{
	const char *error = traceline_time(line, ns);

	if (error || is_live(line))
		return error;
	t->begin = *ns < t->begin ? *ns : t->begin;
	t->end = *ns > t->end ? *ns : t->end;
	if (t->interval && (line->object_id.p || t->lcores) && *ns >= t->rows->interval.to)
		next_interval(t, *ns);
	return NULL;
}

static void see_wall(struct trees *t, const struct traceline *line)
{
	uint64_t ns;

	if (wall_read(line->time, &ns) && ns > t->wall)
		t->wall = ns;
}

/* An each_traceline_fn. */
static const char *add_line(void *context, struct traceline *line, struct slice text)
{
	struct trees *t = context;
	const struct intern *states = &t->rows->states;
	const char *error;
	uint64_t ns;

	if (states->n == ROWS_STATES && intern_get(states, line->tpoint) == MAP_NONE)
		return "more than 65535 tracepoints";
	if (t->lcores || t->rates || (t->interval && line->object_id.p)) {
		error = see_time(t, line, &ns);
		if (error)
			return error;
	}
	if (t->wants_wall && line->time.p)
		see_wall(t, line);
	error = spans_line(&t->spans, line, text);
	if (!error && t->lcores && !is_live(line)) {
		lcore_rows_line(t->lcores, line, ns);
		t->measured++;
	}
	return error;
}

/* Each file has its own addresses and times. */
static void forget_file(struct trees *t)
{
	if (t->rates)
		rates_next_file(t->rates);
	t->begin = UINT64_MAX;
	t->end = 0;
	t->measured = t->no_peak = t->unknown = t->single_entry = t->in_progress = t->refused = t->late = t->cut_short =
		0;
	t->lost = t->incomplete = t->longest = t->longest_life = t->left_out = t->shared = 0;
	memset(t->covered, 0, sizeof(t->covered));
	t->num_touched = 0;
	proofs_free(&t->proofs);
	connections_free(&t->connections);
	t->connections = (struct connections){};
	t->proofs = (struct proofs){.spans = &t->spans};
	spans_free(&t->spans);
	t->spans = (struct spans){.types = &t->rows->types,
				  .states = &t->rows->states,
				  .tool_size = sizeof(struct tree_span),
				  .covered = t->shares && !t->interval,
				  .slack_ns = t->interval ? SPANS_GRACE_NS : 0,
				  .context = t,
				  .emit = measure_span,
				  .entry = see_entry,
				  .held = t->lcores ? see_held : NULL,
				  .has_lcores = t->shares};
	spans_start(&t->spans);
}

int trees_lines(struct trees *t, const char *path)
{
	struct each_traceline in;
	int status;

	forget_file(t);
	if (each_traceline_open(&in, path, "trace-latency", t->out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	status = each_traceline_run(&in, add_line, t);
	t->lines = in.lines.number;
	/* which states are final depends on all entries */
	lifecycle_end(&t->spans.lifecycle);
	spans_end(&t->spans);
	t->elapsed += t->end > t->begin ? t->end - t->begin : 0;
	return status;
}

uint64_t trees_elapsed(const struct trees *t)
{
	const struct rows_interval *interval = &t->rows->interval;
	uint64_t from = t->begin > interval->from ? t->begin : interval->from;
	uint64_t to = t->spans.over ? t->end : interval->to;

	if (!t->interval)
		return t->elapsed;
	return to > from ? to - from : 0;
}

uint64_t trees_slot(const struct trees *t)
{
	return t->interval && t->interval < RATES_SLOT_NS ? t->interval : RATES_SLOT_NS;
}

void trees_free(struct trees *t)
{
	spans_free(&t->spans);
	proofs_free(&t->proofs);
	connections_free(&t->connections);
	overlaps_free(&t->overlaps);
	request_io_free(&t->io);
	free(t->touched);
	free(t->states);
}
