/* SPDX-License-Identifier: BSD-3-Clause */
#include "layers_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cells.h"
#include "mem.h"
#include "names.h"
#include "palette.h"
#include "print.h"
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

/* A column of percentages. They are computed first: where a table is too wide, the smallest columns are dropped. */
struct part {
	const char *name;
	enum layer layer; /* LAYERS: none */
	double *percent;  /* of each row; negative: not known */
	bool any;         /* a row has more than 0 */
	double most;      /* in a row that matters: see has_weight() */
};

enum { PARTS = LAYERS + OVERLAPS + 1 + FACTS_PROVEN + 1 };

struct parts {
	const void **rows; /* struct share, in their order */
	size_t num_rows;
	unsigned __int128 life; /* ns: of all rows */
	struct part all[PARTS];
	unsigned n;
};

static double percent(unsigned __int128 ns, unsigned __int128 life)
{
	return 100 * ratio_part(ns, life);
}

static struct part *add_part(struct parts *p, const char *name)
{
	struct part *part = &p->all[p->n++];

	*part = (struct part){.name = name, .layer = LAYERS, .percent = mem_array(p->num_rows, sizeof(double))};
	return part;
}

/* Leaves out the part that was added last, unless it is more than 0. */
static void keep_if_any(struct parts *p)
{
	if (!p->all[p->n - 1].any)
		free(p->all[--p->n].percent);
}

static void set_part(const struct parts *p, struct part *part, size_t row, double percent)
{
	part->percent[row] = percent;
	part->any |= percent > 0;
	if (percent > part->most && has_weight(p->rows[row], p->life))
		part->most = percent;
}

static void measure_layers(struct parts *p)
{
	for (unsigned layer = 0; layer < LAYERS; layer++) {
		struct part *part = add_part(p, spdk_layers[layer]);

		part->layer = layer;
		for (size_t i = 0; i < p->num_rows; i++) {
			const struct share *share = p->rows[i];

			set_part(p, part, i, percent(share->layers[layer], share->life));
		}
		/* they are rare: a column of zeros would only make the table wider */
		if (layer == LAYER_BELOW || layer == LAYER_UNKNOWN)
			keep_if_any(p);
	}
}

/* The parts that other tools have recorded, of the requests within their recordings. */
static void measure_overlaps(struct parts *p)
{
	for (unsigned overlap = 0; overlap < OVERLAPS; overlap++) {
		struct part *part = add_part(p, overlaps_name(overlap));

		for (size_t i = 0; i < p->num_rows; i++) {
			const struct share_overlap *o = &((const struct share *)p->rows[i])->overlaps[overlap];

			set_part(p, part, i, o->count ? percent(o->ns, o->life) : -1);
		}
	}
}

static void measure_silence(struct parts *p)
{
	struct part *part = add_part(p, "silent");

	for (size_t i = 0; i < p->num_rows; i++) {
		const struct share *share = p->rows[i];

		set_part(p, part, i, percent(share->rare, share->life));
	}
}

static void measure_facts(struct parts *p)
{
	for (unsigned fact = 0; fact <= FACTS_PROVEN; fact++) {
		bool is_queue = fact == FACTS_PROVEN;
		struct part *part = add_part(p, fact_table[is_queue ? FACT_QUEUE : fact_proven[fact]].name);

		for (size_t i = 0; i < p->num_rows; i++) {
			const struct share *share = p->rows[i];

			set_part(p, part, i, percent(is_queue ? share->queue : share->facts[fact], share->life));
		}
		keep_if_any(p);
	}
}

/* Whether a part is the largest layer of a row. */
static bool is_largest(const struct parts *p, unsigned part, size_t row)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->all[i].layer != LAYERS && p->all[i].percent[row] > p->all[part].percent[row])
			return false;
	return p->all[part].layer != LAYERS;
}

static void add_columns(struct tabular *t, const struct parts *p)
{
	tabular_column(t, TABULAR_NUMBER, "count");
	tabular_column(t, TABULAR_NUMBER, "mean");
	for (unsigned i = 0; i < p->n; i++) {
		const struct part *part = &p->all[i];
		char *head = mem_printf("%s%%", part->name);
		struct tabular_column *column = tabular_column(t, TABULAR_NUMBER, head);

		/* the smaller, the sooner */
		column->drop = 1 + (100 - part->most) * 1000;
		column->sgr = part->layer == LAYERS ? NULL : palette_layers[part->layer].sgr;
		free(head);
	}
}

static void put_parts(struct tabular *t, const struct parts *p, size_t row)
{
	for (unsigned i = 0; i < p->n; i++) {
		const struct part *part = &p->all[i];

		if (part->percent[row] < 0)
			out_char(tabular_cell(t, NULL), '-');
		else
			cells_put_number(t, is_largest(p, i, row) ? palette_layers[part->layer].sgr : NULL,
					 part->percent[row]);
	}
}

void layers_table(struct out *out, const struct shares *shares, const struct rows *rows,
		  const struct terminal *terminal)
{
	struct parts p = {.rows = rows_sorted(rows, shares->all, shares->n, sizeof(*shares->all)),
			  .num_rows = shares->n,
			  .life = life_of_all(shares)};
	struct tabular t = {.terminal = terminal};

	measure_layers(&p);
	if (shares->has_overlaps)
		measure_overlaps(&p);
	if (has_much_silence(shares))
		measure_silence(&p);
	measure_facts(&p);
	if (shares->n) {
		print_interval(out, &rows->interval, terminal);
		cells_add_columns(&t, rows->groups.all[shares->all[0].name.group]);
	}
	add_columns(&t, &p);
	for (size_t i = 0; i < shares->n; i++) {
		const struct share *share = p.rows[i];

		tabular_row(&t, false);
		cells_put(&t, rows, &share->name);
		out_u64(tabular_cell(&t, NULL), share->count);
		out_duration(tabular_cell(&t, NULL), ratio_mean(share->life, share->count));
		put_parts(&t, &p, i);
	}
	tabular_print(&t, out);
	if (shares->n && rows->interval.to)
		out_char(out, '\n');
	for (unsigned i = 0; i < p.n; i++)
		free(p.all[i].percent);
	free(p.rows);
}

static void write_overlaps(struct out *out, const struct share_overlap overlaps[OVERLAPS])
{
	for (unsigned i = 0; i < OVERLAPS; i++) {
		out_printf(out, ",\"%s\":", overlaps_name(i));
		if (overlaps[i].count)
			out_printf(out, "%.4f", ratio_part(overlaps[i].ns, overlaps[i].life));
		else
			out_text(out, "null");
	}
	out_printf(out, ",\"covered\":{\"off_cpu\":%" PRIu64 ",\"disk\":%" PRIu64 "}", overlaps[OVERLAP_OFF_CPU].count,
		   overlaps[OVERLAP_DISK].count);
}

void layers_json(struct out *out, const struct shares *shares, const struct rows *rows)
{
	const void **all = rows_sorted(rows, shares->all, shares->n, sizeof(*shares->all));

	for (size_t i = 0; i < shares->n; i++) {
		const struct share *share = all[i];

		out_char(out, '{');
		names_type(out, rows, share->name.group, share->name.type);
		print_interval_members(out, &rows->interval);
		out_printf(out, ",\"count\":%" PRIu64 ",\"mean\":", share->count);
		out_us(out, ratio_mean(share->life, share->count));
		out_text(out, ",\"layers\":{");
		for (unsigned layer = 0; layer < LAYERS; layer++)
			out_printf(out, "%s\"%s\":%.4f", layer ? "," : "", spdk_layers[layer],
				   ratio_part(share->layers[layer], share->life));
		out_char(out, '}');
		if (shares->has_overlaps)
			write_overlaps(out, share->overlaps);
		out_printf(out, ",\"silent\":%.4f", ratio_part(share->silent, share->life));
		for (unsigned fact = 0; fact < FACTS_PROVEN; fact++)
			out_printf(out, ",\"%s\":%.4f", fact_table[fact_proven[fact]].name,
				   ratio_part(share->facts[fact], share->life));
		out_printf(out, ",\"queue\":%.4f", ratio_part(share->queue, share->life));
		out_text(out, "}\n");
	}
	free(all);
}
