/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

#include <err.h>
#include <stdlib.h>

struct row *rows_at(struct rows *rows, uint32_t group, uint32_t type, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)group << 40 | (uint64_t)type << 32 | from << 16 | to;
	uint32_t *index = map_put(&rows->map, key);
	struct row *row;

	if (!index)
		err(EXIT_FAILURE, NULL);
	if (*index != MAP_NONE)
		return rows->all[*index];
	if (rows->n == rows->cap) {
		rows->cap = rows->cap ? 2 * rows->cap : 64;
		rows->all = reallocarray(rows->all, rows->cap, sizeof(*rows->all));
	}
	row = calloc(1, sizeof(*row));
	if (!rows->all || !row)
		err(EXIT_FAILURE, NULL);
	*row = (struct row){.group = group, .type = type, .from = from, .to = to};
	*index = rows->n;
	return rows->all[rows->n++] = row;
}

struct row *rows_named(struct rows *rows, struct slice group, struct slice type,
		       const struct slice *from, const struct slice *to, const char **error)
{
	uint32_t g = intern_add(&rows->groups, group), t = intern_add(&rows->types, type);
	uint32_t f = from ? intern_add(&rows->states, *from) : ROWS_LIFE;
	uint32_t u = to ? intern_add(&rows->states, *to) : ROWS_LIFE;

	if (g == MAP_NONE || t == MAP_NONE || f == MAP_NONE || u == MAP_NONE)
		err(EXIT_FAILURE, NULL);
	if (g >= ROWS_GROUPS || t >= ROWS_TYPES ||
	    (from && (f >= ROWS_STATES || u >= ROWS_STATES))) {
		*error = "more than 16777216 groups, 256 types of objects or 65535 states";
		return NULL;
	}
	return rows_at(rows, g, t, f, u);
}

const struct row *rows_like(const struct rows *rows, const struct rows *others,
			    const struct row *other)
{
	uint32_t group = intern_get(&rows->groups, others->groups.all[other->group]);
	uint32_t type = intern_get(&rows->types, others->types.all[other->type]);
	uint32_t from = ROWS_LIFE, to = ROWS_LIFE, index;

	if (!row_is_life(other)) {
		from = intern_get(&rows->states, others->states.all[other->from]);
		to = intern_get(&rows->states, others->states.all[other->to]);
	}
	if (group == MAP_NONE || type == MAP_NONE || from == MAP_NONE || to == MAP_NONE)
		return NULL;
	index = map_get(&rows->map, (uint64_t)group << 40 | (uint64_t)type << 32 | from << 16 | to);
	return index == MAP_NONE ? NULL : rows->all[index];
}

static int compare_names(struct slice a, struct slice b)
{
	int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* Numbers in the texts count as numbers: lcore 9 comes before lcore 10. Texts of JSON have no NUL. */
static int compare_groups(struct slice a, struct slice b)
{
	int c = strverscmp(a.p, b.p);

	return c ? c : compare_names(a, b);
}

static int by_rank(const void *a, const void *b, void *context)
{
	const struct row *x = ((const struct ranked *)a)->row, *y = ((const struct ranked *)b)->row;
	const struct rows *rows = context;
	int c;

	if (x->group != y->group)
		return compare_groups(rows->groups.all[x->group], rows->groups.all[y->group]);
	if (x->type != y->type)
		return compare_names(rows->types.all[x->type], rows->types.all[y->type]);
	if (row_is_life(x) || row_is_life(y))
		return row_is_life(y) - row_is_life(x);
	if (x->times.sum != y->times.sum)
		return x->times.sum > y->times.sum ? -1 : 1;
	c = compare_names(rows->states.all[x->from], rows->states.all[y->from]);
	return c ? c : compare_names(rows->states.all[x->to], rows->states.all[y->to]);
}

/*
 * The time of all objects of a group and type is the sum of its transitions. That of the whole lives is
 * longer where lines were left out, and shorter where objects had not come to their end.
 */
static void set_shares(struct ranked *from, struct ranked *to)
{
	unsigned __int128 life = 0, parts = 0, total;

	for (struct ranked *r = from; r < to; r++)
		*(row_is_life(r->row) ? &life : &parts) += r->row->times.sum;
	total = life > parts ? life : parts;
	for (struct ranked *r = from; r < to; r++)
		r->share = total ? (double)r->row->times.sum / (double)total : 0;
}

struct ranked *rows_ranked(const struct rows *rows, uint32_t *n)
{
	struct ranked *ranked = calloc(rows->n + 1, sizeof(*ranked));
	uint32_t from, to;

	if (!ranked)
		err(EXIT_FAILURE, NULL);
	*n = 0;
	for (uint32_t i = 0; i < rows->n; i++)
		if (rows->all[i]->times.count)
			ranked[(*n)++].row = rows->all[i];
	qsort_r(ranked, *n, sizeof(*ranked), by_rank, (void *)rows);
	for (from = 0; from < *n; from = to) {
		for (to = from + 1; to < *n && ranked[to].row->group == ranked[from].row->group &&
				    ranked[to].row->type == ranked[from].row->type;
		     to++)
			;
		set_shares(ranked + from, ranked + to);
	}
	return ranked;
}

void rows_clear(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++)
		histogram_clear(&rows->all[i]->times);
}

void rows_free(struct rows *rows)
{
	rows_clear(rows);
	for (uint32_t i = 0; i < rows->n; i++)
		free(rows->all[i]);
	free(rows->all);
	map_free(&rows->map);
	intern_free(&rows->groups);
	intern_free(&rows->types);
	intern_free(&rows->states);
	*rows = (struct rows){};
}
