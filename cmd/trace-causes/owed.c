/* SPDX-License-Identifier: BSD-3-Clause */
#include "owed.h"

#include <stdlib.h>

#include "table.h"

static void add(struct owed *o, uint32_t victim, const struct blame_wait *w)
{
	uint64_t seed = ((uint64_t)victim << 32 | w->who) * 0x9e3779b97f4a7c15;
	struct owed_row row = {victim, w->what, w->of, w->who, w->ns};

	/* keys are mixed, so another row may be there */
	for (uint64_t key = seed ^ (uint64_t)w->what << 56 ^ w->of;; key++) {
		uint32_t *index = map_put(&o->map, key);
		struct owed_row *found;

		if (*index == MAP_NONE) {
			*index = o->n;
			o->all = mem_room(o->all, o->n, &o->cap);
			o->all[o->n++] = row;
			return;
		}
		found = &o->all[*index];
		if (owed_same(found, &row) && found->who == row.who) {
			found->ns += row.ns;
			return;
		}
	}
}

struct total {
	struct owed_row row;
	unsigned __int128 all; /* of its victim and thing */
};

static int by_thing(const void *a, const void *b)
{
	const struct owed_row *x = a, *y = b;

	if (x->victim != y->victim)
		return x->victim < y->victim ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return (x->of > y->of) - (x->of < y->of);
}

static int longest_first(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->all != y->all)
		return x->all < y->all ? 1 : -1;
	if (!owed_same(&x->row, &y->row))
		return by_thing(&x->row, &y->row);
	if (x->row.ns != y->row.ns)
		return x->row.ns < y->row.ns ? 1 : -1;
	return (x->row.who > y->row.who) - (x->row.who < y->row.who);
}

static void sort(struct owed *o)
{
	struct total *totals = mem_array(o->n, sizeof(*totals));

	qsort(o->all, o->n, sizeof(*o->all), by_thing);
	for (size_t i = 0, end; i < o->n; i = end) {
		unsigned __int128 all = 0;

		for (end = i; end < o->n && owed_same(&o->all[i], &o->all[end]); end++)
			all += o->all[end].ns;
		for (size_t k = i; k < end; k++)
			totals[k] = (struct total){o->all[k], all};
	}
	qsort(totals, o->n, sizeof(*totals), longest_first);
	for (size_t i = 0; i < o->n; i++)
		o->all[i] = totals[i].row;
	free(totals);
}

void owed_find(struct owed *o, struct blame *b, const struct compare *c, enum compare_set set)
{
	for (size_t i = 0; i < b->requests->n; i++) {
		const struct request *q = &b->requests->all[i];

		if (c->set_of[i] != set)
			continue;
		blame_request(b, q);
		for (unsigned k = 0; k < b->num_waits; k++)
			add(o, q->host, &b->waits[k]);
	}
	if (o->n)
		sort(o);
}

void owed_free(struct owed *o)
{
	free(o->all);
	map_free(&o->map);
}
