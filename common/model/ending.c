/* SPDX-License-Identifier: BSD-3-Clause */
#include "ending.h"

#include <stdlib.h>

#include "mem.h"
#include "spans.h"

/* The longest that a span waits, and how many do. */
enum { WAIT_NS = 1000 * 1000 * 1000, WAITING = 16384 };

/* Whether the entry's span has ended; its memory may have been reused. */
static bool is_over(const struct ending_entry *entry)
{
	return entry->span->generation != entry->generation || entry->span->end.over;
}

static struct ending_entry *entry_at(const struct ending_queue *q, size_t i)
{
	return &q->all[(q->first + i) & (q->cap - 1)];
}

/* Drops the entries that are over before the ring grows. */
static void make_room(struct ending_queue *q)
{
	size_t cap = q->cap ? 2 * q->cap : 64, n = 0;
	struct ending_entry *all = mem_array(cap, sizeof(*all));

	for (size_t i = 0; i < q->n; i++) {
		const struct ending_entry *entry = entry_at(q, i);

		if (!is_over(entry))
			all[n++] = *entry;
	}
	free(q->all);
	*q = (struct ending_queue){all, 0, n, n < cap / 4 ? cap / 2 : cap};
}

static void add(struct ending_queue *q, struct span *s, uint64_t since)
{
	if (q->n == q->cap)
		make_room(q);
	*entry_at(q, q->n++) = (struct ending_entry){s, s->generation, since};
}

/* Entries whose spans are prefetched. */
enum { AHEAD = 2 };

static void prefetch_span(const struct span *s)
{
	enum { CACHE_LINE = 64 };

	for (size_t at = 0; at < sizeof(*s); at += CACHE_LINE)
		__builtin_prefetch((const char *)s + at);
}

/* Removes the first entry if it waits since this time or longer. False if not. */
static bool pop(struct ending_queue *q, uint64_t since, struct ending_entry *entry)
{
	if (!q->n || q->all[q->first].since > since)
		return false;
	*entry = q->all[q->first];
	q->first = (q->first + 1) & (q->cap - 1);
	q->n--;
	/* since they were added, the next spans have dropped out of the cache */
	for (size_t i = 0; i < q->n && i < AHEAD; i++)
		prefetch_span(entry_at(q, i)->span);
	if (q->n) {
		const struct span *next = q->all[q->first].span;

		__builtin_prefetch(next->states);
		__builtin_prefetch(next->text.buf);
		__builtin_prefetch(next->kept.buf);
	}
	return true;
}

/* Frees a tree, except for spans that have not ended, which become roots. Later entries of its objects have no span. */
static void free_tree(struct spans *spans, struct span *s)
{
	struct object *object = &spans->lifecycle.all[s->object];
	struct span *next;

	for (struct span *child = s->child; child; child = next) {
		next = child->next;
		child->next = child->parent = NULL;
		/* a request may go on when its command has ended */
		if (spans_is_own(spans, child) && !s->end.open && life_is_open(spans, child))
			spans_forget_parent(child);
		else
			child->orphan |= s->orphan || !s->end.open;
		child->admin.queue = s->admin.queue;
		if (child->end.emitted)
			free_tree(spans, child);
	}
	if (object->note == s->index + 1)
		object->note = 0;
	disks_close(&spans->disks, s);
	store_put(&spans->store, s, !spans->over);
}

static void emit(struct spans *spans, struct span *s)
{
	s->end.emitted = true;
	spans->emit(spans->context, s);
	if (!s->parent)
		free_tree(spans, s);
}

void ending_emit(struct spans *spans, bool all)
{
	struct ending *e = &spans->ending;

	while (e->num_waiting) {
		struct span *s = e->first;

		if (!all && e->num_waiting <= WAITING && spans->now - s->last < WAIT_NS &&
		    coverage_may_come(&spans->coverage, s))
			return;
		e->first = s->end.next;
		e->num_waiting--;
		emit(spans, s);
	}
}

void ending_end(struct spans *spans, struct span *s)
{
	struct ending *e = &spans->ending;

	s->end.over = true;
	admin_end(&spans->admin, s);
	e->lost += s->end.lost && !s->has_parent && s->admin.queue != ADMIN_QUEUE;
	if (!spans->coverage.waits || spans->over) {
		emit(spans, s);
		return;
	}
	disks_close(&spans->disks, s);
	*(e->num_waiting++ ? &e->last->end.next : &e->first) = s;
	e->last = s;
	ending_emit(spans, false);
}

void ending_add(struct spans *spans, struct span *s, bool starts, uint64_t ns)
{
	if (spans_is_final(spans, &spans->lifecycle.all[s->object])) {
		add(&spans->ending.final, s, ns);
		s->end.expected = true;
	}
	if (spans->stuck && starts && !s->has_parent)
		add(&spans->ending.open, s, ns);
}

void ending_due(struct spans *spans, uint64_t ns)
{
	struct ending_entry due;

	while (pop(&spans->ending.final, ns, &due))
		if (!is_over(&due) && due.span->last == due.since)
			ending_end(spans, due.span);
}

void ending_stuck(struct spans *spans)
{
	struct ending_entry due;

	while (spans->now >= spans->stuck_ns && pop(&spans->ending.open, spans->now - spans->stuck_ns, &due))
		if (!is_over(&due) && !due.span->has_parent && life_is_open(spans, due.span)) {
			due.span->end.stuck = true;
			spans->stuck(spans->context, due.span);
		}
}

static int by_last(const void *a, const void *b)
{
	const struct span *x = *(struct span *const *)a, *y = *(struct span *const *)b;

	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

void ending_all(struct spans *spans)
{
	struct span **left;
	size_t n = 0;

	ending_emit(spans, true);
	left = mem_array(spans->store.n, sizeof(*left));
	for (size_t i = 0; i < spans->store.n; i++) {
		struct span *s = spans->store.all[i];

		/* a span without states is free */
		if (!s->n || s->end.over)
			continue;
		left[n++] = s;
		s->end.open = life_is_open(spans, s);
		s->end.lost = life_is_lost(spans, s);
	}
	spans->over = true;
	/* what is still queued is in no reply before the latest read */
	for (size_t i = 0; i < n; i++)
		if (left[i]->n == 1 && spans_kind(spans, left[i]) == SPDK_SOCKET_WRITE)
			replies_delay(&spans->replies, left[i], life_lcore_key(spans, left[i]));
	qsort(left, n, sizeof(*left), by_last);
	for (size_t i = 0; i < n; i++)
		ending_end(spans, left[i]);
	free(left);
}

void ending_free(struct ending *e)
{
	free(e->final.all);
	free(e->open.all);
}
