/* SPDX-License-Identifier: BSD-3-Clause */
#include "pairs.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "mem.h"
#include "minmax.h"

/* The pause after a merge that freed less than half: otherwise each event could cause another one. */
enum { MERGE_MS = 1000 };

/* Adds a new pair, with no time yet. */
static uint32_t add(struct pairs *p, struct slice key)
{
	uint32_t index = intern_add(&p->keys, key);

	p->totals = mem_room(p->totals, index, &p->cap);
	p->totals[index] = (struct pair_total){.pair = (const void *)p->keys.all[index].p};
	return index;
}

static void forget_ended(struct pair_thread *thread)
{
	if (thread->tid && kill(thread->tid, 0) != 0 && errno == ESRCH)
		thread->pid = thread->tid = 0;
}

static void merge(struct pairs *p)
{
	struct pairs before = *p;

	p->keys = (struct intern){};
	p->totals = NULL;
	p->cap = 0;
	p->num_merges++;
	for (uint32_t i = 0; i < before.keys.n; i++) {
		struct slice key = before.keys.all[i];
		struct pair *pair = (void *)key.p;
		uint32_t index;

		/* of an earlier interval */
		if (!before.totals[i].count)
			continue;
		forget_ended(&pair->target);
		forget_ended(&pair->waker);
		index = intern_get(&p->keys, key);
		if (index == MAP_NONE)
			index = add(p, key);
		p->totals[index].ns += before.totals[i].ns;
		p->totals[index].count += before.totals[i].count;
		if (before.totals[i].max_ns > p->totals[index].max_ns)
			p->totals[index].max_ns = before.totals[i].max_ns;
		p->totals[index].open += before.totals[i].open;
	}
	intern_free(&before.keys);
	free(before.totals);
	p->next_merge = p->keys.n <= p->max / 2 ? 0 : clock_ms() + MERGE_MS;
}

uint32_t pairs_add(struct pairs *p, const struct pair *pair)
{
	struct slice key = {(const char *)pair, pair_size(pair)};
	uint32_t index = intern_get(&p->keys, key);

	if (index != MAP_NONE)
		return index;
	if (p->keys.n >= p->max && clock_ms() >= p->next_merge)
		merge(p);
	return p->keys.n < p->max ? add(p, key) : MAP_NONE;
}

static int by_time(const void *a, const void *b)
{
	const struct pair_total *const *x = a, *const *y = b;

	return ORDER((*x)->ns, (*y)->ns);
}

const struct pair_total **pairs_sorted(const struct pairs *p, size_t *n)
{
	const struct pair_total **sorted = mem_array(p->keys.n + 1, sizeof(const struct pair_total *));

	*n = 0;
	for (uint32_t i = 0; i < p->keys.n; i++)
		if (p->totals[i].count)
			sorted[(*n)++] = &p->totals[i];
	qsort(sorted, *n, sizeof(const struct pair_total *), by_time);
	return sorted;
}

void pairs_reset(struct pairs *p)
{
	for (uint32_t i = 0; i < p->keys.n; i++)
		p->totals[i] = (struct pair_total){.pair = p->totals[i].pair};
}

void pairs_free(struct pairs *p)
{
	intern_free(&p->keys);
	free(p->totals);
	*p = (struct pairs){};
}
