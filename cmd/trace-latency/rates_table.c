/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables.h"

#include <stdlib.h>

#include "count.h"
#include "ratio.h"

/* A slot at either end of the time is only partly in it: the peak is at least the mean. */
static double peak_of(unsigned __int128 peak, uint64_t slot, unsigned __int128 n, uint64_t ns)
{
	double mean = ratio_per_second(n, ns), most = ratio_per_second(peak, slot);

	return most > mean ? most : mean;
}

void rates_table(struct output *to, const struct rates *rates, const struct rows *rows, uint64_t ns, uint64_t slot)
{
	const void **all = rows_sorted(rows, rates->all, rates->n, sizeof(*rates->all));

	for (size_t i = 0; i < rates->n; i++) {
		const struct rate *rate = all[i];
		double blocks = ratio_per_second(rate->blocks, ns);
		double peak = peak_of(rate->peak_blocks, slot, rate->blocks, ns);
		const struct column columns[] = {
			{"count", "count", 0, columns_spare(1, columns_number(rate->count))},
			{"mean", "mean", 0, columns_spare(2, columns_duration(ratio_mean(rate->life, rate->count)))},
			{"iops", "mean", 0, columns_in("iops", columns_rate(ratio_per_second(rate->count, ns)))},
			{"peak_iops", "peak", 0,
			 columns_in("iops", columns_rate(peak_of(rate->peak, slot, rate->count, ns)))},
			{"blocks/s", "mean", 0,
			 columns_in("blocks", columns_if(rate->has_blocks, columns_rate(blocks)))},
			{"peak_blocks/s", "peak", 0,
			 columns_spare(3, columns_in("blocks", columns_if(rate->has_blocks, columns_rate(peak))))},
		};

		cells_start_row(to, rows, &rate->name, NULL);
		columns_row(&to->columns, columns, COUNT(columns));
	}
	cells_end(to, &rows->interval);
	free(all);
}
