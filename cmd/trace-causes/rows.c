/* SPDX-License-Identifier: BSD-3-Clause */
#include "rows.h"

#include <stdlib.h>

#include "columns.h"
#include "count.h"
#include "mem.h"

static int longest_first(const void *a, const void *b, void *context)
{
	const struct tally_row *x = *(const struct tally_row *const *)a, *y = *(const struct tally_row *const *)b;
	int order;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->key.fact != y->key.fact)
		return x->key.fact < y->key.fact ? -1 : 1;
	order = tally_compare_names(context, x->key.connection, y->key.connection);
	order = order ? order : tally_compare_names(context, x->key.of, y->key.of);
	order = order ? order : tally_compare_names(context, x->key.who, y->key.who);
	order = order ? order : tally_compare_names(context, x->key.type, y->key.type);
	return order ? order : (x->key.size > y->key.size) - (x->key.size < y->key.size);
}

static void write_row(struct columns *c, const struct tally *t, const struct requests *requests,
		      const struct tally_row *row)
{
	const struct fact_row *fact = &fact_table[row->key.fact];
	struct slice lcore = tally_name(t, requests_lcore_name(requests, row->key.lcore));
	uint64_t ns = row->ns < UINT64_MAX ? row->ns : UINT64_MAX, size = row->key.size;
	const struct column columns[] = {
		{"US", "us", 0, columns_us(ns)},
		{"REQUESTS", "requests", 0, columns_number(row->requests)},
		{"LONGEST", "longest", 0, columns_us(row->longest)},
		{"CONNECTION", "connection", 0, columns_raw(tally_name(t, row->key.connection))},
		{"TYPE", "type", 0, columns_raw(tally_name(t, row->key.type))},
		/* sizes up to twice this one are in the row */
		{"BLOCKS", "blocks", 0, columns_if(size, columns_number(size > 1 ? 1ULL << (size - 2) : 0))},
		{"LCORE", "lcore", 0, columns_raw(lcore)},
		{"RESOURCE", "resource", 0, columns_word(slice_of(fact_resources[fact->resource]))},
		{"OF", "of", 0, columns_raw(tally_name(t, row->key.of))},
		{"CAUSE", "cause", 0, columns_word(slice_of(fact->name))},
		{"WHO", "who", 0, columns_raw(tally_name(t, row->key.who))},
	};

	/* its headings are not called as in JSON */
	for (size_t i = 0; !c->is_json && !c->has_heads && i < COUNT(columns); i++)
		out_printf(c->out, "%s%s", columns[i].heading, i + 1 < COUNT(columns) ? "\t" : "\n");
	c->has_heads = true;
	columns_row(c, columns, COUNT(columns));
}

void rows_write(struct out *out, const struct tally *t, const struct requests *requests, bool json)
{
	const struct tally_row **sorted = mem_array(t->num_rows, sizeof(*sorted));
	struct columns c = {.out = out, .terminal.plain = true, .is_json = json};
	size_t n = 0;

	for (size_t i = 0; i < t->num_rows; i++)
		if (t->rows[i].key.set == TALLY_LEDGER)
			sorted[n++] = &t->rows[i];
	if (n)
		qsort_r(sorted, n, sizeof(*sorted), longest_first, (void *)t);
	for (size_t i = 0; i < n; i++)
		write_row(&c, t, requests, sorted[i]);
	columns_end(&c);
	free(sorted);
}
