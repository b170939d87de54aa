/* SPDX-License-Identifier: BSD-3-Clause */
#include "self_time.h"

#include "minmax.h"
#include "search.h"
#include "spans.h"

struct division {
	struct self_time *self;
	const struct spans *spans;
	uint64_t reply;       /* ns: the start of the first reply, of those of the objects above and of this one */
	self_time_part *part; /* NULL: nothing gets the parts */
	void *context;
};

/* Merges two lists in the order of their ends; of equal ends, those of a are first. */
static struct span *merged(struct span *a, struct span *b)
{
	struct span *first = NULL, **end = &first;

	while (a && b) {
		struct span **from = a->path.end >= b->path.end ? &a : &b;

		*end = *from;
		end = &(*from)->path.next;
		*from = *end;
	}
	*end = a ? a : b;
	return first;
}

/* Takes n of these siblings, at least one, and sorts them, the one that ends last first. */
static struct span *sorted(struct span **siblings, unsigned n)
{
	struct span *first, *second;

	if (n > 1) {
		first = sorted(siblings, n / 2);
		second = sorted(siblings, n - n / 2);
		return merged(first, second);
	}
	first = *siblings;
	*siblings = first->next;
	first->path.next = NULL;
	return first;
}

unsigned self_time_letter(struct self_letter *all, unsigned n, struct slice letter, uint64_t ns)
{
	unsigned i = 0;

	while (i < n && !slice_equal(all[i].letter, letter))
		i++;
	if (i == n)
		all[n++] = (struct self_letter){letter, 0};
	all[i].ns += ns;
	return n;
}

/* Adds a time of a span to that of its type. */
static void count_type(struct division *m, const struct span *s, uint64_t ns)
{
	struct self_time *self = m->self;
	struct slice letter;

	if (!s->unknown) {
		self->types[s->type] += ns;
		self->has[s->type] = true;
		return;
	}
	letter = spdk_letter(m->spans->states->all[s->states[0].state]);
	self->num_letters = self_time_letter(self->letters, self->num_letters, letter, ns);
}

/* Until when a child is at work. A request is for its command until it replies: the rest is on the wire. */
static uint64_t work_end(const struct division *m, const struct span *s, const struct span *child)
{
	uint64_t end = life_until(m->spans, child);

	bool is_request = spans_is_own(m->spans, child) || (s->is_remote && spans_kind(m->spans, child) == SPDK_OTHER);

	return is_request ? min_u64(end, child->reply.start) : end;
}

/* Sorts the children of all spans in a tree, which ends here at the latest. */
static void prepare(struct division *m, struct span *s, uint64_t end)
{
	struct span *siblings = s->child;

	count_type(m, s, 0);
	s->path = (struct self_time_span){.end = end};
	for (struct span *child = s->child; child; child = child->next)
		prepare(m, child, min_u64(work_end(m, s, child), end));
	if (s->child)
		s->path.latest = s->path.chain = sorted(&siblings, s->num_children);
}

/* Counts a time in a state. All that is after the start of a reply belongs to it. */
static void count_layer(struct division *m, const struct span *s, enum layer layer, uint64_t from, uint64_t to)
{
	uint64_t reply = m->reply < from ? from : m->reply < to ? m->reply : to;

	m->self->layers[layer] += reply - from;
	m->self->layers[LAYER_REPLY] += to - reply;
	if (m->part && to > reply)
		m->part(m->context, s, LAYER_REPLY, reply, to);
	if (m->part && reply > from)
		m->part(m->context, s, layer, from, reply);
}

/* Counts a time in which no child is at work. io: the innermost bdev I/O, s or one above it; NULL: none. */
static void count(struct division *m, const struct span *s, struct span *io, uint64_t from, uint64_t to)
{
	/* from the state that the span is in at that time */
	size_t i = search_first(n, s->n - 1, s->states[n + 1].ns > from);

	if (io)
		io->path.self += to - from;
	count_type(m, s, to - from);
	if (from < s->states[0].ns) {
		uint64_t end = to < s->states[0].ns ? to : s->states[0].ns;

		count_layer(m, s, LAYER_UNKNOWN, from, end);
		from = end;
	}
	for (; from < to; i++) {
		uint64_t end = i + 1 < s->n && s->states[i + 1].ns < to ? s->states[i + 1].ns : to;

		count_layer(m, s, spans_layer(m->spans, s, s->states[i].state), from, end);
		from = end;
	}
}

/* The child on the chain that was at work, or ended, before this time. */
static struct span *find_link(struct span *s, uint64_t to)
{
	struct span *link = s->path.chain;

	while (link && link->first >= to) {
		uint64_t start = link->first;

		do
			link = link->path.next;
		while (link && link->path.end > start);
	}
	return s->path.chain = link;
}

/* Of the children that started before this time, the one that ends last. */
static struct span *find_latest(struct span *s, uint64_t to)
{
	struct span *child = s->path.latest;

	while (child && child->first >= to)
		child = child->path.next;
	return s->path.latest = child;
}

/*
 * Divides a time of a span. Its times are divided from the latest to the earliest, so that each child is passed once,
 * however many they are. Recursion is bounded by SPANS_DEPTH.
 */
static void divide(struct division *m, struct span *s, struct span *io, uint64_t from, uint64_t to)
{
	uint64_t reply = m->reply;

	m->reply = min_u64(s->reply.start, reply);
	if (spans_is_bdev_io(m->spans, s))
		io = s;
	/* the wire is no part of the bdev above it */
	if (s->is_remote)
		io = NULL;
	while (from < to) {
		struct span *child = find_link(s, to);
		uint64_t start = from;

		if (!child || child->path.end < to) {
			start = child ? max_u64(from, child->path.end) : from;
			child = find_latest(s, to);
		}
		if (child && child->path.end >= to) {
			start = max_u64(start, child->first);
			divide(m, child, io, start, to);
		} else {
			start = child ? max_u64(start, child->path.end) : start;
			count(m, s, io, start, to);
		}
		to = start;
	}
	m->reply = reply;
}

static void divide_life(struct division *m, const struct span *s)
{
	*m->self = (struct self_time){};
	count_type(m, s, s->age);
	m->self->layers[LAYER_UNKNOWN] = s->age;
	prepare(m, (struct span *)s, life_until(m->spans, s));
	divide(m, (struct span *)s, NULL, s->first, life_until(m->spans, s));
}

void self_time_measure(struct self_time *self, const struct spans *spans, const struct span *s)
{
	divide_life(&(struct division){self, spans, UINT64_MAX, NULL, NULL}, s);
}

void self_time_each(const struct spans *spans, const struct span *s, self_time_part *part, void *context)
{
	struct self_time self;

	divide_life(&(struct division){&self, spans, UINT64_MAX, part, context}, s);
}

/* Of a tree whose times were divided, the bdev I/O that has more time than `most`, or as much. */
static const struct span *find_leg(const struct spans *spans, const struct span *s, const struct span *most)
{
	if (spans_is_bdev_io(spans, s) && s->path.self && (!most || s->path.self >= most->path.self))
		most = s;
	for (const struct span *child = s->child; child; child = child->next)
		most = find_leg(spans, child, most);
	return most;
}

const struct span *self_time_leg(const struct spans *spans, const struct span *s)
{
	struct self_time self;

	self_time_measure(&self, spans, s);
	return find_leg(spans, s, NULL);
}
