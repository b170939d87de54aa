/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of a span and of those below it, in the order of the trace, and the long waits between them. */
#pragma once

#include "spans.h"

/* The longest waits that are at least a tenth of the life. */
enum { WAITS_LONG = 3, WAITS_NOTABLE = 10 };

/* All zero before the first call. */
struct waits {
	const struct span *root;
	struct waits_entry {
		const struct span *span;
		size_t state; /* that the entry starts, in span->states */
	} * entries;
	size_t n, cap;
	struct wait {
		size_t end; /* the entry that ends it; n: none does */
		uint64_t ns;
	} all[WAITS_LONG]; /* in the order of time */
	unsigned num_waits;
};

/* Finds the entries and waits of a span, valid while its tree is. */
void waits_find(struct waits *w, const struct spans *spans, const struct span *s);

/*
 * The time in ns before an entry; before the first one since the creation of the span, as far as that is known, and
 * after the last one until its end.
 */
uint64_t waits_before(const struct waits *w, const struct spans *spans, size_t i);

static inline const struct span_state *waits_state(const struct waits *w, size_t i)
{
	return &w->entries[i].span->states[w->entries[i].state];
}

/* The wait that this entry ends, or NULL. */
static inline const struct wait *waits_at(const struct waits *w, size_t i)
{
	for (unsigned k = 0; k < w->num_waits; k++)
		if (w->all[k].end == i)
			return &w->all[k];
	return NULL;
}

void waits_free(struct waits *w);
