/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcores_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "count.h"
#include "ratio.h"

static struct slice write_names(struct out *out, const struct lcore_rows *rows, const struct lcore_sum *sum)
{
	enum { FEW = 3 };

	for (size_t i = 0; i < sum->num_uses && i < FEW; i++) {
		out_text(out, i ? "," : "");
		out_slice(out, connections_name(rows->connections, sum->uses[i].connection)->name);
	}
	if (sum->num_uses > FEW)
		out_printf(out, ",+%zu", sum->num_uses - FEW);
	return out_contents(out);
}

static struct slice write_connections(struct out *out, const struct lcore_rows *rows, const struct lcore_sum *sum)
{
	for (size_t i = 0; i < sum->num_uses; i++) {
		out_text(out, i ? ",{\"name\":" : "[{\"name\":");
		out_json(out, connections_name(rows->connections, sum->uses[i].connection)->name);
		out_printf(out, ",\"entries\":%" PRIu64 "}", sum->uses[i].entries);
	}
	out_text(out, sum->num_uses ? "]" : "[]");
	return out_contents(out);
}

static struct slice write_cause(struct out *out, const struct lcore_cause *cause)
{
	out_slice(out, cause->text);
	if (cause->share)
		out_printf(out, ", %.0f%%", 100 * cause->share);
	return out_contents(out);
}

static void put_row(struct cells *c, const struct lcore_rows *rows, const struct lcore_sum *sum)
{
	struct out names = {.fd = OUT_MEMORY}, list = {.fd = OUT_MEMORY}, why = {.fd = OUT_MEMORY};
	const struct lcore_row *row = sum->row;
	const struct lcore_cause cause = lcore_rows_cause(rows, row);
	const struct column columns[] = {
		{lcore_rows_has_sources(rows) ? "source" : NULL, "source", 0,
		 columns_least(TABULAR_LEAST, columns_raw(sum->source))},
		{"lcore", "lcore", 0, columns_number(row->lcore)},
		{"entries", "entries", 0, columns_spare(2, columns_number(row->entries))},
		{"active", "active", 0, columns_part(ratio_part(row->active, sum->ns))},
		{"requests", "requests", 0, columns_spare(3, columns_number(row->requests))},
		{"iops", "iops", 0, columns_spare(4, columns_rate(ratio_per_second(row->requests, sum->ns)))},
		{"conns", NULL, 0, columns_spare(1, columns_number(sum->num_uses))},
		{"names", NULL, 0, columns_least(TABULAR_LEAST, columns_text(write_names(&names, rows, sum)))},
		{NULL, "connections", 0, columns_json(write_connections(&list, rows, sum))},
		{"silence", NULL, 0, columns_duration(row->longest.ns)},
		{"begin_us", "begin", 0, columns_in("silence", columns_spare(5, columns_us(row->longest.begin)))},
		{NULL, "us", 0, columns_in("silence", columns_us(row->longest.ns))},
		{"cause", NULL, 0, columns_least(26, columns_raw(write_cause(&why, &cause)))},
		{NULL, "cause", 0, columns_in("silence", columns_raw(cause.text))},
		{NULL, "share", 0, columns_in("silence", columns_if(cause.share, columns_part(cause.share)))},
	};

	cells_row(c, columns, 2, COUNT(columns));
	out_close(&names);
	out_close(&list);
	out_close(&why);
}

void lcores_table(struct output *to, struct lcore_rows *rows, bool last)
{
	struct lcore_sum *sums = lcore_rows_end(rows, last);
	struct cells c = cells_start(to, &rows->interval);

	for (size_t i = 0; sums && i < rows->n; i++)
		put_row(&c, rows, &sums[i]);
	cells_end(&c);
	free(sums);
}
