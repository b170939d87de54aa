/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranking.h"

#include <stdlib.h>

#include "mem.h"

static bool is_smaller(const struct ranking_text *a, const struct ranking_text *b)
{
	return a->key != b->key ? a->key < b->key : a->order > b->order;
}

static void swap(struct ranking_text *a, struct ranking_text *b)
{
	struct ranking_text was = *a;

	*a = *b;
	*b = was;
}

bool ranking_wants(const struct ranking *r, uint64_t key)
{
	return !r->max || r->n < r->max || key > r->all[0].key;
}

static void sift_up(struct ranking *r, size_t i)
{
	for (; i && is_smaller(&r->all[i], &r->all[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&r->all[i], &r->all[(i - 1) / 2]);
}

static void sift_down(struct ranking *r)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < r->n; i = child) {
		if (child + 1 < r->n && is_smaller(&r->all[child + 1], &r->all[child]))
			child++;
		if (!is_smaller(&r->all[child], &r->all[i]))
			return;
		swap(&r->all[child], &r->all[i]);
	}
}

void ranking_add(struct ranking *r, uint64_t key, struct slice text)
{
	struct ranking_text added = {key, r->added++, {mem_copy(text), text.n}};

	if (r->max && r->n == r->max) {
		free((char *)r->all[0].text.p);
		r->all[0] = added;
		sift_down(r);
		return;
	}
	r->all = mem_room(r->all, r->n, &r->cap);
	r->all[r->n++] = added;
	sift_up(r, r->n - 1);
}

static int largest_first(const void *a, const void *b)
{
	return is_smaller(a, b) ? 1 : -1;
}

void ranking_write(struct ranking *r, struct out *out)
{
	if (!r->n)
		return;
	qsort(r->all, r->n, sizeof(*r->all), largest_first);
	for (size_t i = 0; i < r->n; i++) {
		out_text(out, i ? r->between : "");
		out_slice(out, r->all[i].text);
		free((char *)r->all[i].text.p);
	}
	free(r->all);
	*r = (struct ranking){.max = r->max};
}
