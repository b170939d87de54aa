/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables.h"

#include <stdlib.h>

#include "palette.h"
#include "ratio.h"

static unsigned __int128 life_of_all(const struct shares *shares)
{
	unsigned __int128 life = 0;

	for (size_t i = 0; i < shares->n; i++)
		life += shares->all[i].life;
	return life;
}

/* Whether a row has at least one percent of all time. */
static bool has_weight(const struct share *share, unsigned __int128 life)
{
	return 100 * share->life >= life;
}

/* Whether such a row has much silence that is not usual. */
static bool has_much_silence(const struct shares *shares)
{
	enum { MUCH = 50 }; /* percent */
	unsigned __int128 life = life_of_all(shares);

	for (size_t i = 0; i < shares->n; i++)
		if (shares->all[i].rare && has_weight(&shares->all[i], life) &&
		    100 * shares->all[i].rare >= MUCH * shares->all[i].life)
			return true;
	return false;
}

/* Whether a layer is the largest of a row. */
static bool is_largest(const struct share *share, enum layer layer)
{
	for (unsigned i = 0; i < LAYERS; i++)
		if (share->layers[i] > share->layers[layer])
			return false;
	return true;
}

/* A row, and what its columns have in common. */
struct parts {
	const struct share *share;
	bool has_weight;
	struct columns *columns;
};

/* Where a table is too wide, the columns with the smallest parts of rows that matter are dropped. */
static struct column_value *add_part(const struct parts *p, const char *heading, const char *name, unsigned __int128 ns,
				     unsigned __int128 life)
{
	double part = ratio_part(ns, life);

	return columns_add(p->columns, heading, name,
			   columns_spare(1 + (p->has_weight ? part * 100000 : 0), columns_part(part)));
}

static void add_layers(const struct parts *p)
{
	for (enum layer layer = 0; layer < LAYERS; layer++) {
		struct column_value *value = add_part(p, spdk_layers[layer], spdk_layers[layer],
						      p->share->layers[layer], p->share->life);

		value->object = "layers";
		value->heading_sgr = palette_layers[layer].sgr;
		value->sgr = is_largest(p->share, layer) ? value->heading_sgr : NULL;
		/* they are rare: a column of zeros would only make the table wider */
		value->hides_zeros = layer == LAYER_BELOW || layer == LAYER_UNKNOWN;
	}
}

/* The parts that other tools have recorded, of the requests within their recordings. */
static void add_overlaps(const struct parts *p)
{
	for (enum overlap i = 0; i < OVERLAPS; i++) {
		const struct share_overlap *o = &p->share->overlaps[i];
		struct column_value *value = add_part(p, overlaps_name(i), overlaps_name(i), o->ns, o->life);

		if (!o->count)
			value->kind = COLUMN_NULL;
	}
	for (enum overlap i = 0; i < OVERLAPS; i++)
		if (i != OVERLAP_IRQ)
			columns_add(p->columns, NULL, overlaps_name(i),
				    columns_in("covered", columns_number(p->share->overlaps[i].count)));
}

static void add_facts(const struct parts *p)
{
	for (unsigned i = 0; i <= FACTS_PROVEN; i++) {
		const char *name = fact_table[i < FACTS_PROVEN ? fact_proven[i] : FACT_QUEUE].name;
		unsigned __int128 ns = i < FACTS_PROVEN ? p->share->facts[i] : p->share->queue;

		add_part(p, name, name, ns, p->share->life)->hides_zeros = true;
	}
}

void layers_table(struct output *to, const struct shares *shares, const struct rows *rows)
{
	const void **all = rows_sorted(rows, shares->all, shares->n, sizeof(*shares->all));
	unsigned __int128 life = life_of_all(shares);
	bool has_silence = has_much_silence(shares);
	struct columns *c = &to->columns;

	for (size_t i = 0; i < shares->n; i++) {
		const struct share *share = all[i];
		struct parts p = {share, has_weight(share, life), c};

		cells_start_row(to, rows, &share->name, NULL);
		columns_add(c, "count", "count", columns_number(share->count));
		columns_add(c, "mean", "mean", columns_duration(ratio_mean(share->life, share->count)));
		add_layers(&p);
		if (shares->has_overlaps || c->terminal.plain)
			add_overlaps(&p);
		if (has_silence || c->terminal.plain)
			add_part(&p, "silent", NULL, share->rare, share->life);
		add_part(&p, NULL, "silent", share->silent, share->life);
		add_facts(&p);
		columns_row(c, NULL, 0);
	}
	cells_end(to, &rows->interval);
	free(all);
}
