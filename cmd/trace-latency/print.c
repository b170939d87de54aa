/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "count.h"
#include "minmax.h"
#include "names.h"
#include "ratio.h"

static const struct {
	const char *json, *head, *change;
	bool is_wide, change_is_wide; /* only in plain tables */
	unsigned spare;               /* as of columns_spare() */
} names[NUM_STATS] = {
	[STAT_MEAN] = {"mean", "mean", "mean%", .spare = 0},
	[STAT_P50] = {"p50", "p50", "p50%", .change_is_wide = true, .spare = 2},
	[STAT_P90] = {"p90", "p90", "p90%", .is_wide = true, .change_is_wide = true},
	[STAT_P99] = {"p99", "p99", "p99%", .spare = 0},
	[STAT_P999] = {"p999", "p999", "p999%", .is_wide = true, .change_is_wide = true},
	[STAT_MAX] = {"max", "max", "max%", .change_is_wide = true, .spare = 4},
};

/* How much larger a time is than before, 0.1 for a tenth; infinite when it was 0. */
static double change(uint64_t is, uint64_t was)
{
	return is == was ? 0 : (double)is / (double)was - 1;
}

enum { CHANGE_ROOM = 32 };

/* As a percentage; as a factor if the time is at least ten times as long; of a time that was 0, neither. */
static struct slice change_text(char room[CHANGE_ROOM], double by)
{
	if (isinf(by))
		return slice_of("-");
	snprintf(room, CHANGE_ROOM, by < 9 ? "%+.1f" : "x%.0f", by < 9 ? 100 * by : by + 1);
	return slice_of(room);
}

/* The times before, and how they have changed. before: NULL if there was no such row. */
static void add_changes(struct columns *c, char changes[NUM_STATS][CHANGE_ROOM], const struct latency_stats *is,
			const struct latency *before)
{
	struct latency_stats was = before ? rows_stats(before) : (struct latency_stats){};

	if (before)
		columns_add(c, NULL, "count", columns_in("against", columns_number(before->times.count)));
	for (unsigned i = 0; before && i < NUM_STATS; i++)
		columns_add(c, NULL, names[i].json, columns_in("against", columns_us(was.ns[i])));
	for (unsigned i = 0; i < NUM_STATS; i++) {
		double by = change(is->ns[i], was.ns[i]);

		if (c->terminal.plain || !names[i].change_is_wide)
			columns_add(c, names[i].change, NULL,
				    columns_word(before ? change_text(changes[i], by) : slice_of("new")));
		/* JSON has no infinity */
		if (before)
			columns_add(c, NULL, names[i].json,
				    columns_in("change", isfinite(by) ? columns_part(by)
								      : (struct column_value){.kind = COLUMN_NULL}));
	}
}

/* Whether a row is the transition that takes most time in its group and type: they are sorted. */
static bool is_first_transition(const struct ranked_row *ranked, size_t i)
{
	const struct latency *row = ranked[i].row, *before = i ? ranked[i - 1].row : NULL;

	return rows_is_transition(row) &&
	       (!before || !rows_is_transition(before) || before->group != row->group || before->type != row->type);
}

/* Starts a row; in a table for people, those of a group are below a title. */
static void start_row(struct output *to, const struct rows *rows, const struct ranked_row *ranked, size_t i)
{
	const struct latency *row = ranked[i].row;
	struct slice group = rows_group(rows, row->group);

	if (output_is_human(to) && group.n && (!i || row->group != ranked[i - 1].row->group))
		names_group(columns_title(&to->columns), group, "");
	to->columns.is_bold = is_first_transition(ranked, i);
	cells_start_row(to, rows, &(struct rows_name){row->group, row->type}, row);
}

void print_table(struct output *to, const struct rows *rows, const struct rows *base)
{
	struct ranked_row *ranked = rows_ranked(rows);
	struct columns *c = &to->columns;

	for (size_t i = 0; i < rows->num_filled; i++) {
		const struct latency *row = ranked[i].row;
		struct latency_stats stats = rows_stats(row);
		char share[CHANGE_ROOM], changes[NUM_STATS][CHANGE_ROOM];

		snprintf(share, sizeof(share), "%.1f", 100 * ranked[i].share);
		start_row(to, rows, ranked, i);
		columns_add(c, "count", "count", columns_number(row->times.count));
		for (unsigned k = 0; k < NUM_STATS; k++)
			columns_add(c, c->terminal.plain || !names[k].is_wide ? names[k].head : NULL, names[k].json,
				    columns_spare(names[k].spare, columns_duration(stats.ns[k])));
		columns_add(c, NULL, "share", columns_part(ranked[i].share));
		if (base)
			add_changes(c, changes, &stats, rows_find(base, rows, row));
		columns_add(c, "share%", NULL, columns_spare(3, columns_word(slice_of(share))));
		columns_add(c, "", NULL,
			    columns_spare(1, columns_bar(20, rows_is_transition(row) ? ranked[i].share : 0)))
			->sgr = cells_sgr(rows, row);
		columns_row(c, NULL, 0);
	}
	cells_end(to, &rows->interval);
	free(ranked);
}

/* The numbers of values of powers of two, from the first that has values to the last. */
struct powers {
	uint64_t bounds[HISTOGRAM_POWERS + 1], counts[HISTOGRAM_POWERS], most;
	unsigned first, last;
};

static void measure_powers(struct powers *p, const struct histogram *times)
{
	*p = (struct powers){};
	for (unsigned i = 1; i < HISTOGRAM_POWERS; i++)
		p->bounds[i] = (uint64_t)1 << i;
	p->bounds[HISTOGRAM_POWERS] = UINT64_MAX;
	p->last = histogram_fold(times, p->counts);
	while (p->first < p->last && !p->counts[p->first])
		p->first++;
	for (unsigned i = p->first; i <= p->last; i++)
		p->most = max_u64(p->most, p->counts[i]);
}

void print_histograms(struct output *to, const struct rows *rows)
{
	struct ranked_row *ranked = rows_ranked(rows);
	struct out buckets = {.fd = OUT_MEMORY};
	struct columns array = {.out = &buckets, .is_json = true, .is_array = true}, *c = &to->columns;

	for (size_t i = 0; i < rows->num_filled; i++) {
		const struct latency *row = ranked[i].row;
		const struct rows_name name = {row->group, row->type};
		struct powers p;

		measure_powers(&p, &row->times);
		if (output_is_human(to)) {
			if (!i)
				cells_interval(to, &rows->interval);
			names_row(columns_title(c), rows, row);
		}
		for (unsigned k = p.first; k <= p.last; k++) {
			const struct column columns[] = {
				/* in a pipe, "from" is a state */
				{c->terminal.plain ? "least" : "from", c->is_json ? "from" : NULL, 0,
				 columns_duration(p.bounds[k])},
				{"below", "below", 0, columns_duration(p.bounds[k + 1])},
				{"count", "count", 0, columns_number(p.counts[k])},
				{"", NULL, 0, columns_bar(40, ratio_part(p.counts[k], p.most))},
			};

			if (c->terminal.plain)
				cells_start_row(to, rows, &name, row);
			columns_row(c->is_json ? &array : c, columns, COUNT(columns));
		}
		if (!c->is_json)
			continue;
		columns_end(&array);
		cells_start_row(to, rows, &name, row);
		columns_add(c, NULL, "count", columns_number(row->times.count));
		columns_add(c, NULL, "buckets", columns_json(out_contents(&buckets)));
		columns_row(c, NULL, 0);
		buckets.len = 0;
	}
	cells_end(to, &rows->interval);
	out_close(&buckets);
	free(ranked);
}
