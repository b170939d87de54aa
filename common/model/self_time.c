/* SPDX-License-Identifier: BSD-3-Clause */
#include "self_time.h"

#include "search.h"

struct division {
	struct self_time *self;
	const struct spans *spans;
	uint64_t reply; /* ns: the start of the first reply, of those of the objects above and of this one */
};

/* Counts a time in a state. All that is after the start of a reply belongs to it. */
static void count_layer(struct division *m, enum layer layer, uint64_t from, uint64_t to)
{
	uint64_t reply = m->reply < from ? from : m->reply < to ? m->reply : to;

	m->self->layers[layer] += reply - from;
	m->self->layers[LAYER_REPLY] += to - reply;
}

/* Counts a time in which no child is at work. */
static void count(struct division *m, const struct span *s, uint64_t from, uint64_t to)
{
	/* from the state that the span is in at that time */
	size_t i = search_first(n, s->n - 1, s->states[n + 1].ns > from);

	m->self->types[s->type] += to - from;
	for (; from < to; i++) {
		uint64_t end = i + 1 < s->n && s->states[i + 1].ns < to ? s->states[i + 1].ns : to;

		count_layer(m, spans_tpoint(m->spans, s->states[i].state)->layer, from, end);
		from = end;
	}
}

static void divide(struct division *m, const struct span *s, uint64_t from, uint64_t to);

/* Divides the time up to `to`. children: those at work, the one that started last first. */
static uint64_t advance(struct division *m, const struct span *s, const struct span **children, uint64_t from,
			uint64_t to)
{
	while (from < to) {
		const struct span *child = *children;
		uint64_t end = to;

		if (child && spans_until(m->spans, child) <= from) {
			*children = child->under;
			continue;
		}
		if (child) {
			end = spans_until(m->spans, child) < to ? spans_until(m->spans, child) : to;
			divide(m, child, from, end);
		} else {
			count(m, s, from, end);
		}
		from = end;
	}
	return from;
}

/* Recursion is bounded by SPANS_DEPTH. */
static void divide(struct division *m, const struct span *s, uint64_t from, uint64_t to)
{
	const struct span *active = NULL;
	uint64_t reply = m->reply;

	m->reply = s->reply < reply ? s->reply : reply;
	m->self->has[s->type] = true;
	for (struct span *child = s->child; child && child->first < to; child = child->next) {
		m->self->has[child->type] = true;
		if (spans_until(m->spans, child) <= from)
			continue;
		if (child->first > from)
			from = advance(m, s, &active, from, child->first);
		child->under = (struct span *)active;
		active = child;
	}
	advance(m, s, &active, from, to);
	m->reply = reply;
}

void self_time_measure(struct self_time *self, const struct spans *spans, const struct span *s)
{
	struct division m = {self, spans, UINT64_MAX};

	*self = (struct self_time){};
	self->types[s->type] = s->age;
	self->layers[LAYER_UNKNOWN] = s->age;
	divide(&m, s, s->first, spans_until(spans, s));
}
