/* SPDX-License-Identifier: BSD-3-Clause */
#include "waits.h"

#include <stdlib.h>

#include "mem.h"

static void gather(struct waits *w, const struct span *s)
{
	for (size_t i = 0; i < s->n; i++) {
		w->entries = mem_room(w->entries, w->n, &w->cap);
		w->entries[w->n++] = (struct waits_entry){s, i};
	}
	for (const struct span *child = s->child; child; child = child->next)
		gather(w, child);
}

static int by_order(const void *a, const void *b)
{
	const struct waits_entry *x = a, *y = b;
	int32_t after = x->span->states[x->state].order - y->span->states[y->state].order;

	return (after > 0) - (after < 0);
}

/* Most trees are small, and their entries nearly in order. */
static void sort(struct waits *w)
{
	enum { FEW = 64 };

	if (w->n > FEW) {
		qsort(w->entries, w->n, sizeof(*w->entries), by_order);
		return;
	}
	for (size_t i = 1; i < w->n; i++) {
		struct waits_entry entry = w->entries[i];
		uint32_t order = waits_state(w, i)->order;
		size_t k = i;

		for (; k && (int32_t)(waits_state(w, k - 1)->order - order) > 0; k--)
			w->entries[k] = w->entries[k - 1];
		w->entries[k] = entry;
	}
}

uint64_t waits_before(const struct waits *w, const struct spans *spans, size_t i)
{
	uint64_t from, to;

	if (!i)
		return w->entries[0].span == w->root ? w->root->age : 0;
	from = waits_state(w, i - 1)->ns;
	to = i < w->n ? waits_state(w, i)->ns : life_until(spans, w->root);
	/* entries of other lcores may be out of order */
	return to > from ? to - from : 0;
}

/* Adds a wait if it is longer than the shortest one. Of equal ones, the first is kept. */
static void add_wait(struct waits *w, struct wait new)
{
	unsigned shortest = 0;

	if (w->num_waits == WAITS_LONG) {
		for (unsigned k = 1; k < WAITS_LONG; k++)
			if (w->all[k].ns <= w->all[shortest].ns)
				shortest = k;
		if (new.ns <= w->all[shortest].ns)
			return;
		w->num_waits--;
		memmove(&w->all[shortest], &w->all[shortest + 1], (w->num_waits - shortest) * sizeof(*w->all));
	}
	w->all[w->num_waits++] = new;
}

void waits_find(struct waits *w, const struct spans *spans, const struct span *s)
{
	uint64_t life = life_ns(spans, s), notable = life ? (life + WAITS_NOTABLE - 1) / WAITS_NOTABLE : 1;
	uint64_t until = life_until(spans, s);

	w->root = s;
	w->n = w->num_waits = 0;
	gather(w, s);
	sort(w);
	for (size_t i = 0; i <= w->n; i++) {
		uint64_t ns = waits_before(w, spans, i);

		/* spans below it may go on after its end */
		if (ns >= notable && (i == w->n || waits_state(w, i)->ns <= until))
			add_wait(w, (struct wait){i, ns});
	}
}

void waits_free(struct waits *w)
{
	free(w->entries);
}
