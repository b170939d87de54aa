/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include <stdlib.h>

#include "mem.h"
#include "span.h"

bool queue_is_over(const struct queue_entry *entry)
{
	return entry->span->generation != entry->generation || entry->span->ended;
}

static struct queue_entry *entry_at(const struct queue *q, size_t i)
{
	return &q->all[(q->first + i) & (q->cap - 1)];
}

/* Drops the entries that are over before the ring grows. */
static void make_room(struct queue *q)
{
	size_t cap = q->cap ? 2 * q->cap : 64, n = 0;
	struct queue_entry *all = mem_array(cap, sizeof(*all));

	for (size_t i = 0; i < q->n; i++) {
		const struct queue_entry *entry = entry_at(q, i);

		if (!queue_is_over(entry))
			all[n++] = *entry;
	}
	free(q->all);
	*q = (struct queue){all, 0, n, n < cap / 4 ? cap / 2 : cap};
}

void queue_add(struct queue *q, struct span *s, uint64_t since)
{
	if (q->n == q->cap)
		make_room(q);
	*entry_at(q, q->n++) = (struct queue_entry){s, s->generation, since};
}

/* Entries whose spans are prefetched. */
enum { AHEAD = 2 };

static void prefetch_span(const struct span *s)
{
	enum { CACHE_LINE = 64 };

	for (size_t at = 0; at < sizeof(*s); at += CACHE_LINE)
		__builtin_prefetch((const char *)s + at);
}

static void prefetch_parts(const struct span *s)
{
	__builtin_prefetch(s->states);
	__builtin_prefetch(s->text.buf);
	__builtin_prefetch(s->kept.buf);
}

bool queue_pop(struct queue *q, uint64_t since, struct queue_entry *entry)
{
	if (!queue_is_due(q, since))
		return false;
	*entry = q->all[q->first];
	q->first = (q->first + 1) & (q->cap - 1);
	q->n--;
	/* since they were added, the next spans have dropped out of the cache */
	for (size_t i = 0; i < q->n && i < AHEAD; i++)
		prefetch_span(entry_at(q, i)->span);
	if (q->n)
		prefetch_parts(q->all[q->first].span);
	return true;
}
