/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcores_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cells.h"
#include "names.h"
#include "print.h"
#include "ratio.h"

static void put_names(struct out *out, const struct lcore_rows *rows, const struct lcore_sum *sum)
{
	enum { FEW = 3 };
	struct out names = {.fd = OUT_MEMORY};

	for (size_t i = 0; i < sum->num_uses && i < FEW; i++) {
		out_text(&names, i ? "," : "");
		out_slice(&names, connections_name(rows->connections, sum->uses[i].connection)->name);
	}
	if (sum->num_uses > FEW)
		out_printf(&names, ",+%zu", sum->num_uses - FEW);
	if (!sum->num_uses)
		out_char(&names, '-');
	out_visible(out, out_contents(&names));
	out_close(&names);
}

static void put_cause(struct out *out, const struct lcore_rows *rows, const struct lcore_sum *sum)
{
	struct lcore_cause cause = lcore_rows_cause(rows, sum->row);

	names_text(out, cause.text.n ? cause.text : slice_of("-"));
	if (cause.share)
		out_printf(out, ", %.0f%%", 100 * cause.share);
}

static void put_row(struct tabular *t, const struct lcore_rows *rows, const struct lcore_sum *sum)
{
	const struct lcore_row *row = sum->row;

	tabular_row(t, false);
	if (lcore_rows_has_sources(rows))
		names_text(tabular_cell(t, NULL), sum->source.n ? sum->source : slice_of("-"));
	out_u64(tabular_cell(t, NULL), row->lcore);
	out_u64(tabular_cell(t, NULL), row->entries);
	cells_put_number(t, NULL, 100 * ratio_part(row->active, sum->ns));
	out_u64(tabular_cell(t, NULL), row->requests);
	cells_put_number(t, NULL, ratio_per_second(row->requests, sum->ns));
	out_u64(tabular_cell(t, NULL), sum->num_uses);
	put_names(tabular_cell(t, NULL), rows, sum);
	out_duration(tabular_cell(t, NULL), row->longest.ns);
	out_us(tabular_cell(t, NULL), row->longest.begin);
	put_cause(tabular_cell(t, NULL), rows, sum);
}

void lcores_table(struct out *out, struct lcore_rows *rows, bool last, const struct terminal *terminal)
{
	struct lcore_sum *sums = lcore_rows_end(rows, last);
	struct tabular t = {.terminal = terminal};

	if (!sums)
		return;
	print_interval(out, &rows->interval, terminal);
	if (lcore_rows_has_sources(rows))
		tabular_column(&t, TABULAR_NAME, "source");
	tabular_column(&t, TABULAR_NUMBER, "lcore");
	tabular_column(&t, TABULAR_NUMBER, "entries")->drop = 4;
	tabular_column(&t, TABULAR_NUMBER, "active%");
	tabular_column(&t, TABULAR_NUMBER, "requests")->drop = 3;
	tabular_column(&t, TABULAR_NUMBER, "iops")->drop = 2;
	tabular_column(&t, TABULAR_NUMBER, "conns")->drop = 5;
	tabular_column(&t, TABULAR_NAME, "names");
	tabular_column(&t, TABULAR_NUMBER, "silence");
	tabular_column(&t, TABULAR_NUMBER, "begin_us")->drop = 1;
	tabular_column(&t, TABULAR_NAME, "cause")->least = 26;
	for (size_t i = 0; i < rows->n; i++)
		put_row(&t, rows, &sums[i]);
	tabular_print(&t, out);
	if (rows->interval.to)
		out_char(out, '\n');
	free(sums);
}

static void write_silence(struct out *out, const struct lcore_rows *rows, const struct lcore_row *row)
{
	struct lcore_cause cause = lcore_rows_cause(rows, row);

	out_text(out, ",\"silence\":{\"begin\":");
	out_us(out, row->longest.begin);
	out_text(out, ",\"us\":");
	out_us(out, row->longest.ns);
	if (cause.text.n)
		out_printf(out, ",\"cause\":\"%.*s\"", (int)cause.text.n, cause.text.p);
	if (cause.share)
		out_printf(out, ",\"share\":%.4f", cause.share);
	out_char(out, '}');
}

static void write_row(struct out *out, const struct lcore_rows *rows, const struct lcore_sum *sum)
{
	const struct lcore_row *row = sum->row;

	out_char(out, '{');
	if (sum->source.n)
		out_printf(out, "\"source\":\"%.*s\",", (int)sum->source.n, sum->source.p);
	out_printf(out, "\"lcore\":%" PRIu64, row->lcore);
	print_interval_members(out, &rows->interval);
	out_printf(out, ",\"entries\":%" PRIu64 ",\"active\":%.4f,\"requests\":%" PRIu64 ",\"iops\":%.1f", row->entries,
		   ratio_part(row->active, sum->ns), row->requests, ratio_per_second(row->requests, sum->ns));
	out_text(out, ",\"connections\":[");
	for (size_t i = 0; i < sum->num_uses; i++) {
		out_text(out, i ? ",{\"name\":" : "{\"name\":");
		out_json(out, connections_name(rows->connections, sum->uses[i].connection)->name);
		out_printf(out, ",\"entries\":%" PRIu64 "}", sum->uses[i].entries);
	}
	out_char(out, ']');
	write_silence(out, rows, row);
	out_text(out, "}\n");
}

void lcores_json(struct out *out, struct lcore_rows *rows, bool last)
{
	struct lcore_sum *sums = lcore_rows_end(rows, last);

	for (size_t i = 0; sums && i < rows->n; i++)
		write_row(out, rows, &sums[i]);
	free(sums);
}
