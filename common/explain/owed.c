/* SPDX-License-Identifier: BSD-3-Clause */
#include "owed.h"

#include <stdlib.h>

#include "mem.h"

static int by_thing(const void *a, const void *b, void *context)
{
	const struct tally_key *x = &((const struct owed_row *)a)->wait->key,
			       *y = &((const struct owed_row *)b)->wait->key;

	if (x->a != y->a)
		return tally_compare_names(context, x->a, y->a);
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return tally_compare_names(context, x->b, y->b);
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
	if (x->wait->ns != y->wait->ns)
		return x->wait->ns < y->wait->ns ? 1 : -1;
	return tally_compare_names(context, x->wait->key.c, y->wait->key.c);
}

size_t owed_end(const struct owed *o, size_t i)
{
	const struct tally_key *key = &o->all[i].wait->key;
	size_t end = i;

	for (; end < o->n; end++) {
		const struct tally_key *other = &o->all[end].wait->key;

		if (other->a != key->a || other->what != key->what || other->b != key->b)
			break;
	}
	return end;
}

void owed_find(struct owed *o, const struct tally *t, uint32_t set)
{
	for (size_t i = 0; i < t->num_waits; i++) {
		if (t->waits[i].key.set != set)
			continue;
		o->all = mem_room(o->all, o->n, &o->cap);
		o->all[o->n++] = (struct owed_row){&t->waits[i], 0};
	}
	if (!o->n)
		return;
	qsort_r(o->all, o->n, sizeof(*o->all), by_thing, (void *)t);
	for (size_t i = 0, end; i < o->n; i = end) {
		unsigned __int128 all = 0;

		end = owed_end(o, i);
		for (size_t k = i; k < end; k++)
			all += o->all[k].wait->ns;
		for (size_t k = i; k < end; k++)
			o->all[k].all = all;
	}
	qsort_r(o->all, o->n, sizeof(*o->all), longest_first, (void *)t);
}

void owed_free(struct owed *o)
{
	free(o->all);
}
