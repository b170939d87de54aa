/* SPDX-License-Identifier: BSD-3-Clause */
#include "rates_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cells.h"
#include "names.h"
#include "print.h"
#include "ratio.h"

/* A slot at either end of the time is only partly in it: the peak is at least the mean. */
static double peak_of(unsigned __int128 peak, uint64_t slot, unsigned __int128 n, uint64_t ns)
{
	double mean = ratio_per_second(n, ns), most = ratio_per_second(peak, slot);

	return most > mean ? most : mean;
}

static void put_rate(struct tabular *t, const struct rate *rate, uint64_t ns, uint64_t slot)
{
	out_u64(tabular_cell(t, NULL), rate->count);
	out_duration(tabular_cell(t, NULL), ratio_mean(rate->life, rate->count));
	out_printf(tabular_cell(t, NULL), "%.1f", ratio_per_second(rate->count, ns));
	out_printf(tabular_cell(t, NULL), "%.1f", peak_of(rate->peak, slot, rate->count, ns));
	if (rate->has_blocks) {
		out_printf(tabular_cell(t, NULL), "%.1f", ratio_per_second(rate->blocks, ns));
		out_printf(tabular_cell(t, NULL), "%.1f", peak_of(rate->peak_blocks, slot, rate->blocks, ns));
	} else {
		out_char(tabular_cell(t, NULL), '-');
		out_char(tabular_cell(t, NULL), '-');
	}
}

void rates_table(struct out *out, const struct rates *rates, const struct rows *rows, uint64_t ns, uint64_t slot,
		 const struct terminal *terminal)
{
	const void **all = rows_sorted(rows, rates->all, rates->n, sizeof(*rates->all));
	struct tabular t = {.terminal = terminal};

	if (rates->n) {
		print_interval(out, &rows->interval, terminal);
		cells_add_columns(&t, rows->groups.all[rates->all[0].name.group]);
	}
	tabular_column(&t, TABULAR_NUMBER, "count")->drop = 3;
	tabular_column(&t, TABULAR_NUMBER, "mean")->drop = 2;
	tabular_column(&t, TABULAR_NUMBER, "iops");
	tabular_column(&t, TABULAR_NUMBER, "peak_iops");
	tabular_column(&t, TABULAR_NUMBER, "blocks/s");
	tabular_column(&t, TABULAR_NUMBER, "peak_blocks/s")->drop = 1;
	for (size_t i = 0; i < rates->n; i++) {
		const struct rate *rate = all[i];

		tabular_row(&t, false);
		cells_put(&t, rows, &rate->name);
		put_rate(&t, rate, ns, slot);
	}
	tabular_print(&t, out);
	if (rates->n && rows->interval.to)
		out_char(out, '\n');
	free(all);
}

void rates_json(struct out *out, const struct rates *rates, const struct rows *rows, uint64_t ns, uint64_t slot)
{
	const void **all = rows_sorted(rows, rates->all, rates->n, sizeof(*rates->all));

	for (size_t i = 0; i < rates->n; i++) {
		const struct rate *rate = all[i];

		out_char(out, '{');
		names_type(out, rows, rate->name.group, rate->name.type);
		print_interval_members(out, &rows->interval);
		out_printf(out, ",\"count\":%" PRIu64 ",\"mean\":", rate->count);
		out_us(out, ratio_mean(rate->life, rate->count));
		out_printf(out, ",\"iops\":{\"mean\":%.1f,\"peak\":%.1f}", ratio_per_second(rate->count, ns),
			   peak_of(rate->peak, slot, rate->count, ns));
		if (rate->has_blocks)
			out_printf(out, ",\"blocks\":{\"mean\":%.1f,\"peak\":%.1f}", ratio_per_second(rate->blocks, ns),
				   peak_of(rate->peak_blocks, slot, rate->blocks, ns));
		out_text(out, "}\n");
	}
	free(all);
}
