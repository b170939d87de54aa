/* SPDX-License-Identifier: BSD-3-Clause */
#include "owed.h"

#include <stdlib.h>

#include "mem.h"

static int by_thing(const void *a, const void *b, void *context)
{
	const struct owed_row *x = a, *y = b;
	enum resource rx = fact_table[x->fact].resource, ry = fact_table[y->fact].resource;

	if (x->host != y->host)
		return tally_compare_names(context, x->host, y->host);
	if (rx != ry)
		return rx < ry ? -1 : 1;
	return tally_compare_names(context, x->of, y->of);
}

static int by_holder(const void *a, const void *b, void *context)
{
	const struct owed_row *x = a, *y = b;
	int thing = by_thing(a, b, context);

	if (thing)
		return thing;
	if (x->fact != y->fact)
		return x->fact < y->fact ? -1 : 1;
	return tally_compare_names(context, x->who, y->who);
}

static int longest_first(const void *a, const void *b, void *context)
{
	const struct owed_row *x = a, *y = b;
	int thing;

	if (x->all != y->all)
		return x->all < y->all ? 1 : -1;
	thing = by_thing(a, b, context);
	if (thing)
		return thing;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return by_holder(a, b, context);
}

size_t owed_end(const struct owed *o, size_t i)
{
	const struct owed_row *first = &o->all[i];
	size_t end = i;

	while (end < o->n && o->all[end].host == first->host && o->all[end].of == first->of &&
	       fact_table[o->all[end].fact].resource == fact_table[first->fact].resource)
		end++;
	return end;
}

/* Adds up rows that follow each other and have the same holder. */
static void merge(struct owed *o, const struct tally *t)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		if (n && by_holder(&o->all[n - 1], &o->all[i], (void *)t) == 0)
			o->all[n - 1].ns += o->all[i].ns;
		else
			o->all[n++] = o->all[i];
	o->n = n;
}

void owed_find(struct owed *o, const struct tally *t, uint32_t set)
{
	for (size_t i = 0; i < t->num_rows; i++) {
		const struct tally_row *row = &t->rows[i];

		if (row->key.set != set || row->key.fact == FACT_QUEUE)
			continue;
		o->all = mem_room(o->all, o->n, &o->cap);
		o->all[o->n++] = (struct owed_row){row->example->host, row->key.of, row->key.who,
						   row->key.fact,      row->ns,     0};
	}
	if (!o->n)
		return;
	qsort_r(o->all, o->n, sizeof(*o->all), by_holder, (void *)t);
	merge(o, t);
	for (size_t i = 0, end; i < o->n; i = end) {
		unsigned __int128 all = 0;

		end = owed_end(o, i);
		for (size_t k = i; k < end; k++)
			all += o->all[k].ns;
		for (size_t k = i; k < end; k++)
			o->all[k].all = all;
	}
	qsort_r(o->all, o->n, sizeof(*o->all), longest_first, (void *)t);
}

void owed_free(struct owed *o)
{
	free(o->all);
}
