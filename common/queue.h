/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans in the order in which something is to be done about them. Memory grows with those that are
 * still open.
 */
#ifndef QUEUE_H
#define QUEUE_H

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
	size_t first, n, cap;
};

void queue_add(struct queue *q, struct span *s, uint64_t since);

/* Takes off the first entry that has been there since then or longer. False when no entry has. */
bool queue_take(struct queue *q, uint64_t since, struct queue_entry *entry);

/* Whether the entry's span has ended, and may be another one now. */
bool queue_is_over(const struct queue_entry *entry);

#endif
