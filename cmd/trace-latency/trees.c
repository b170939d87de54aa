/* SPDX-License-Identifier: BSD-3-Clause */
#include "trees.h"

#include <err.h>
#include <stdlib.h>

#include "io.h"
#include "mem.h"
#include "tracelines.h"

/* The area of each span: the indexes of two texts, plus 1; 0: there is none. */
struct span_groups {
	uint32_t first;     /* the group of its first line, in trees.firsts */
	uint32_t inherited; /* the group of its parent, in rows.groups */
};

/* The first group if it is too long. */
static const uint32_t TOO_LONG = UINT32_MAX;

static void add_states(struct trees *t, const struct span *s)
{
	for (size_t i = 0; i < s->n; i++) {
		t->states = mem_room(t->states, t->num_states, &t->cap_states);
		t->states[t->num_states++] = s->states[i];
	}
	for (const struct span *child = s->child; t->related && child; child = child->next)
		add_states(t, child);
}

static int by_entry(const void *a, const void *b)
{
	const struct span_state *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int32_t)(x->order - y->order) < 0 ? -1 : 1;
}

static void record(struct trees *t, const struct span *s, uint32_t group)
{
	const struct span_state *states;
	size_t n;

	t->num_states = 0;
	add_states(t, s);
	states = t->states;
	n = t->num_states;
	if (t->related)
		qsort(t->states, n, sizeof(*states), by_entry);
	for (size_t i = 1; i < n; i++)
		rows_record(t->rows, group, s->type, states[i - 1].state, states[i].state,
			    states[i].ns - states[i - 1].ns);
	if (s->open)
		t->in_progress++;
	else if (n == 1 && !s->age)
		t->single_entry++;
	else
		rows_record(t->rows, group, s->type, ROWS_LIFE, ROWS_LIFE, s->age + (states[n - 1].ns - s->first));
}

static void share(struct trees *t, const struct span *s, uint32_t group)
{
	if (s->has_parent)
		return;
	t->in_progress += s->open;
	t->cut += s->cut && !s->open;
	if (s->open || s->cut)
		return;
	self_measure(&t->self, &t->spans, s);
	held_measure(&t->held, &t->spans, s);
	shares_add(t->shares, group, s->type, s->last - s->first, t->self.layers,
		   held_is_known(&t->spans) ? t->held.parts : NULL);
}

static struct slice text_of(const struct intern *texts, uint32_t number)
{
	return number ? texts->all[number - 1] : slice_of("");
}

/* The index of a span's group in rows; MAP_NONE when it is too long, or exceeds ROWS_GROUPS. */
static uint32_t find_group(struct trees *t, const struct span *s)
{
	const struct span_groups *groups = s->tool;
	struct slice group;

	if (groups->first == TOO_LONG)
		return MAP_NONE;
	lift_span(&t->lift, &t->spans, s);
	group = group_of_span(t->group, text_of(&t->firsts, groups->first), &t->lift,
			      text_of(&t->rows->groups, groups->inherited));
	return group.n > GROUP_MAX ? MAP_NONE : intern_add_below(&t->rows->groups, group, ROWS_GROUPS);
}

/* Measures a span that has ended, and those below it that have ended as well. */
static void measure_tree(struct trees *t, const struct span *s)
{
	uint32_t group = find_group(t, s);

	t->refused += group == MAP_NONE;
	t->unknown += group != MAP_NONE && s->unknown;
	if (group != MAP_NONE && !s->unknown) {
		t->measured++;
		if (t->shares)
			share(t, s, group);
		else
			record(t, s, group);
	}
	for (struct span *child = s->child; child; child = child->next) {
		struct span_groups *groups = child->tool;

		groups->inherited = group == MAP_NONE ? 0 : group + 1;
		if (child->ended)
			measure_tree(t, child);
	}
}

/* A spans.emit function. A span below another one is measured when that one ends. */
static void measure_span(void *context, const struct span *s)
{
	if (!s->parent)
		measure_tree(context, s);
}

/* A spans.entry function. Stores the group of a span's first line. */
static void keep_first(void *context, struct span *s, uint32_t before, const struct traceline *line, struct slice text)
{
	struct trees *t = context;
	struct span_groups *groups = s->tool;
	struct slice group;

	if (before != MAP_NONE || !t->group->n)
		return;
	group = group_of(t->group, line, text, slice_of(""));
	groups->first = group.n > GROUP_MAX ? TOO_LONG : intern_add(&t->firsts, group) + 1;
}

/* A tracelines_each_fn. */
static const char *add_line(void *context, struct traceline *line, struct slice text)
{
	struct trees *t = context;
	const struct intern *states = &t->rows->states;

	if (states->n == ROWS_STATES && intern_get(states, line->tpoint) == MAP_NONE)
		return "more than 65535 tracepoints";
	return spans_line(&t->spans, line, text);
}

int trees_lines(struct trees *t, const char *path)
{
	struct tracelines in;
	int status;

	t->measured = t->unknown = t->cut = t->single_entry = t->in_progress = t->refused = 0;
	spans_free(&t->spans);
	t->spans = (struct spans){.types = &t->rows->types,
				  .states = &t->rows->states,
				  .tool_size = sizeof(struct span_groups),
				  .context = t,
				  .emit = measure_span,
				  .entry = keep_first};
	spans_start(&t->spans);
	if (tracelines_open(&in, path, "trace-latency", t->out) != 0)
		err(EXIT_FAILURE, "%s", io_name(path));
	status = tracelines_each(&in, add_line, t);
	t->lines = in.lines.number;
	/* as in measure.c, which states are final depends on all entries */
	lifecycle_end(&t->spans.lifecycle);
	spans_end(&t->spans);
	return status;
}

void trees_free(struct trees *t)
{
	spans_free(&t->spans);
	intern_free(&t->firsts);
	lift_free(&t->lift);
	held_free(&t->held);
	free(t->states);
}
