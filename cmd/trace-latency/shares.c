/* SPDX-License-Identifier: BSD-3-Clause */
#include "shares.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cells.h"
#include "print.h"
#include "table.h"

void shares_add(struct shares *shares, const struct shares_request *request)
{
	const struct overlaps *overlaps = request->overlaps;
	struct share *share = table_put(&shares->map, (uint64_t)request->name.group << 32 | request->name.type,
					shares->all, shares->n, shares->cap);

	share->name = request->name;
	share->count++;
	share->life += request->life;
	for (unsigned i = 0; i < LAYERS; i++)
		share->layers[i] += request->layers[i];
	for (unsigned i = 0; i < OVERLAPS; i++) {
		shares->has_overlaps |= overlaps->known[i];
		if (!overlaps->covered[i])
			continue;
		share->overlaps[i].count++;
		share->overlaps[i].life += request->life;
		share->overlaps[i].ns += overlaps->parts[i];
	}
	share->silent += overlaps->silent;
	share->rare += request->is_rare ? overlaps->silent : 0;
	for (unsigned i = 0; i < PROOFS_FACTS; i++)
		share->facts[i] += request->facts.ns[i];
	share->queue += request->facts.queue ? request->life : 0;
}

/* Whether a row with a hundredth of all time or more has much silence that is not usual. */
static bool has_much_silence(const struct shares *shares)
{
	enum { MUCH = 50 }; /* percent */
	unsigned __int128 life = 0;

	for (size_t i = 0; i < shares->n; i++)
		life += shares->all[i].life;
	for (size_t i = 0; i < shares->n; i++)
		if (shares->all[i].rare && 100 * shares->all[i].life >= life &&
		    100 * shares->all[i].rare >= MUCH * shares->all[i].life)
			return true;
	return false;
}

/* The columns of a table. */
struct columns {
	struct cells cells;
	bool layers[LAYERS]; /* which of them it has */
	bool silent;
	bool facts[PROOFS_FACTS], queue;
	struct out text;
};

static void measure(struct columns *c, const struct shares *shares, const struct rows *rows)
{
	/* below and unknown are rare: a column of zeros would only make the table wider */
	for (unsigned layer = 0; layer < LAYERS; layer++)
		c->layers[layer] = layer != LAYER_BELOW && layer != LAYER_UNKNOWN;
	c->silent = has_much_silence(shares);
	for (size_t i = 0; i < shares->n; i++) {
		for (unsigned layer = 0; layer < LAYERS; layer++)
			c->layers[layer] |= shares->all[i].layers[layer] != 0;
		for (unsigned fact = 0; fact < PROOFS_FACTS; fact++)
			c->facts[fact] |= shares->all[i].facts[fact] != 0;
		c->queue |= shares->all[i].queue != 0;
		cells_measure(&c->cells, rows->groups.all[shares->all[i].name.group]);
	}
}

/* The width of a column of percentages, which need six characters. */
static int part_width(const char *name)
{
	size_t n = strlen(name) + 1;

	return n > 6 ? n : 6;
}

static void put_part_head(struct out *out, const char *name)
{
	out_printf(out, " %*s%%", part_width(name) - 1, name);
}

static void put_part(struct out *out, const char *name, unsigned __int128 life, unsigned __int128 ns)
{
	out_printf(out, " %*.2f", part_width(name), 100 * print_part(ns, life));
}

/* What held the requests that lines of the tool cover. */
static void put_overlap(struct out *out, const char *name, const struct share_overlap *overlap)
{
	if (overlap->count)
		put_part(out, name, overlap->life, overlap->ns);
	else
		out_printf(out, " %*s", part_width(name), "-");
}

static void put_head(struct columns *c, const struct shares *shares, struct slice group)
{
	cells_put_group(&c->cells, &c->text, group, true);
	cells_put_type_head(&c->text);
	out_printf(&c->text, "%10s %12s", "count", "mean_us");
	for (unsigned layer = 0; layer < LAYERS; layer++)
		if (c->layers[layer])
			put_part_head(&c->text, spdk_layers[layer]);
	for (unsigned part = 0; shares->has_overlaps && part < OVERLAPS; part++)
		put_part_head(&c->text, overlaps_names[part]);
	if (c->silent)
		put_part_head(&c->text, "silent");
	for (unsigned fact = 0; fact < PROOFS_FACTS; fact++)
		if (c->facts[fact])
			put_part_head(&c->text, proofs_names[fact]);
	if (c->queue)
		put_part_head(&c->text, "queue");
	out_char(&c->text, '\n');
}

static void put_share(struct columns *c, const struct shares *shares, const struct rows *rows,
		      const struct share *share)
{
	cells_put_group(&c->cells, &c->text, rows->groups.all[share->name.group], false);
	cells_put_type(&c->text, rows, share->name.type);
	out_printf(&c->text, "%10" PRIu64 " %8" PRIu64 ".%03u", share->count,
		   print_mean(share->life, share->count) / 1000,
		   (unsigned)(print_mean(share->life, share->count) % 1000));
	for (unsigned layer = 0; layer < LAYERS; layer++)
		if (c->layers[layer])
			put_part(&c->text, spdk_layers[layer], share->life, share->layers[layer]);
	for (unsigned part = 0; shares->has_overlaps && part < OVERLAPS; part++)
		put_overlap(&c->text, overlaps_names[part], &share->overlaps[part]);
	if (c->silent)
		put_part(&c->text, "silent", share->life, share->rare);
	for (unsigned fact = 0; fact < PROOFS_FACTS; fact++)
		if (c->facts[fact])
			put_part(&c->text, proofs_names[fact], share->life, share->facts[fact]);
	if (c->queue)
		put_part(&c->text, "queue", share->life, share->queue);
	out_char(&c->text, '\n');
}

void shares_print_table(struct out *out, const struct shares *shares, const struct rows *rows)
{
	struct columns c = {.text.fd = OUT_MEMORY};
	const void **all = rows_sorted(rows, shares->all, shares->n, sizeof(*shares->all));

	measure(&c, shares, rows);
	if (shares->n)
		print_interval(out, &rows->interval);
	for (size_t i = 0; i < shares->n; i++) {
		const struct share *share = all[i];

		c.text.len = 0;
		if (!i)
			put_head(&c, shares, rows->groups.all[share->name.group]);
		put_share(&c, shares, rows, share);
		out_slice(out, out_contents(&c.text));
	}
	if (shares->n && rows->interval.to)
		out_char(out, '\n');
	free(all);
	cells_free(&c.cells);
	out_close(&c.text);
}

static void write_overlaps(struct out *out, const struct share_overlap overlaps[OVERLAPS])
{
	for (unsigned i = 0; i < OVERLAPS; i++) {
		out_printf(out, ",\"%s\":", overlaps_names[i]);
		if (overlaps[i].count)
			out_printf(out, "%.4f", print_part(overlaps[i].ns, overlaps[i].life));
		else
			out_text(out, "null");
	}
	out_printf(out, ",\"covered\":{\"off_cpu\":%" PRIu64 ",\"disk\":%" PRIu64 "}", overlaps[OVERLAP_OFF_CPU].count,
		   overlaps[OVERLAP_DISK].count);
}

void shares_print_json(struct out *out, const struct shares *shares, const struct rows *rows)
{
	const void **all = rows_sorted(rows, shares->all, shares->n, sizeof(*shares->all));

	for (size_t i = 0; i < shares->n; i++) {
		const struct share *share = all[i];

		out_char(out, '{');
		rows_write_type(out, rows, share->name.group, share->name.type);
		print_interval_members(out, &rows->interval);
		out_printf(out, ",\"count\":%" PRIu64 ",\"mean\":", share->count);
		out_us(out, print_mean(share->life, share->count));
		out_text(out, ",\"layers\":{");
		for (unsigned layer = 0; layer < LAYERS; layer++)
			out_printf(out, "%s\"%s\":%.4f", layer ? "," : "", spdk_layers[layer],
				   print_part(share->layers[layer], share->life));
		out_char(out, '}');
		if (shares->has_overlaps)
			write_overlaps(out, share->overlaps);
		out_printf(out, ",\"silent\":%.4f", print_part(share->silent, share->life));
		for (unsigned fact = 0; fact < PROOFS_FACTS; fact++)
			out_printf(out, ",\"%s\":%.4f", proofs_names[fact],
				   print_part(share->facts[fact], share->life));
		out_printf(out, ",\"queue\":%.4f", print_part(share->queue, share->life));
		out_text(out, "}\n");
	}
	free(all);
}

void shares_free(struct shares *shares)
{
	map_free(&shares->map);
	free(shares->all);
	*shares = (struct shares){};
}
