/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of spans, by the time since which they wait. Memory grows with the number of spans that
 * are still open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span;

/* All zero is empty. */
struct queue {
	struct queue_entry {
		struct span *span;
		uint32_t generation; /* of the span, when it was added */
		uint64_t since;      /* ns */
	} * all;                     /* a ring */
	size_t first, n, cap;        /* cap: a power of two */
};

void queue_add(struct queue *q, struct span *s, uint64_t since);

/* Whether the first entry has been waiting since this time or longer. */
static inline bool queue_is_due(const struct queue *q, uint64_t since)
{
	return q->n && q->all[q->first].since <= since;
}

/* Removes the first entry if it is due. False if not. */
bool queue_pop(struct queue *q, uint64_t since, struct queue_entry *entry);

/* Whether the entry's span has ended; its memory may have been reused. */
bool queue_is_over(const struct queue_entry *entry);
