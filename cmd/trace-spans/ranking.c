/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranking.h"

#include <stdlib.h>

#include "mem.h"

static int largest_first(const void *a, const void *b)
{
	const struct ranking_text *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

bool ranking_wants(const struct ranking *r, uint64_t key)
{
	return !r->max || key >= r->least;
}

/* Drops those that are not among the largest. */
static void cut(struct ranking *r)
{
	qsort(r->all, r->n, sizeof(*r->all), largest_first);
	while (r->max && r->n > r->max)
		free((char *)r->all[--r->n].text.p);
}

void ranking_add(struct ranking *r, uint64_t key, struct slice text)
{
	r->all = mem_room(r->all, r->n, &r->cap);
	r->all[r->n++] = (struct ranking_text){key, r->added++, {mem_copy(text), text.n}};
	/* now and then, so that it takes little time */
	if (r->max && r->n / 2 >= r->max) {
		cut(r);
		r->least = r->all[r->n - 1].key + 1;
	}
}

void ranking_write(struct ranking *r, struct out *out)
{
	if (!r->n)
		return;
	cut(r);
	for (size_t i = 0; i < r->n; i++) {
		out_text(out, i ? r->between : "");
		out_slice(out, r->all[i].text);
		free((char *)r->all[i].text.p);
	}
	free(r->all);
	*r = (struct ranking){.max = r->max};
}
