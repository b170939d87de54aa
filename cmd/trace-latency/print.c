/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "minmax.h"
#include "names.h"
#include "palette.h"
#include "ratio.h"
#include "tabular.h"

static const struct {
	const char *json, *head, *change;
	bool is_wide, change_is_wide; /* only with --wide */
	unsigned drop;
} names[NUM_STATS] = {
	[STAT_MEAN] = {"mean", "mean", "mean%"},
	[STAT_P50] = {"p50", "p50", "p50%", .change_is_wide = true, .drop = 3},
	[STAT_P90] = {"p90", "p90", "p90%", .is_wide = true, .change_is_wide = true},
	[STAT_P99] = {"p99", "p99", "p99%"},
	[STAT_P999] = {"p999", "p99.9", "p99.9%", .is_wide = true, .change_is_wide = true},
	[STAT_MAX] = {"max", "max", "max%", .change_is_wide = true, .drop = 1},
};

/* How much larger a time is than before, 0.1 for a tenth; infinite when it was 0. */
static double change(uint64_t is, uint64_t was)
{
	return is == was ? 0 : (double)is / (double)was - 1;
}

void print_interval(struct out *out, const struct interval *interval, const struct terminal *terminal)
{
	const uint64_t second = 1000000000, from = interval->from, to = interval->to;

	if (!to)
		return;
	terminal_paint(terminal, out, TERMINAL_BOLD);
	out_printf(out, "%" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64 " s", from / second, from % second,
		   to / second, to % second);
	terminal_plain(terminal, out);
	out_char(out, '\n');
}

static void print_us(struct out *out, const char *key, uint64_t ns)
{
	out_printf(out, ",\"%s\":", key);
	out_us(out, ns);
}

void print_interval_members(struct out *out, const struct interval *interval)
{
	if (!interval->to)
		return;
	print_us(out, "begin", interval->from);
	print_us(out, "end", interval->to);
}

static void add_columns(struct tabular *t, const struct rows *base)
{
	bool wide = t->terminal->width == TERMINAL_WIDE;

	tabular_column(t, TABULAR_NAME, "obj");
	tabular_column(t, TABULAR_NAME, "from");
	tabular_column(t, TABULAR_NAME, "to");
	tabular_column(t, TABULAR_NUMBER, "count");
	for (unsigned i = 0; i < NUM_STATS; i++)
		if (wide || !names[i].is_wide)
			tabular_column(t, TABULAR_NUMBER, names[i].head)->drop = names[i].drop;
	for (unsigned i = 0; base && i < NUM_STATS; i++)
		if (wide || !names[i].change_is_wide)
			tabular_column(t, TABULAR_NUMBER, names[i].change);
	tabular_column(t, TABULAR_NUMBER, "share%")->drop = 2;
	tabular_column(t, TABULAR_BAR, "")->drop = 4;
}

/* As a percentage; as a factor if the time is at least ten times as long; of a time that was 0, neither. */
static void put_change(struct out *out, double by)
{
	if (by < 9)
		out_printf(out, "%+.1f", 100 * by);
	else if (isinf(by))
		out_char(out, '-');
	else
		out_printf(out, "x%.0f", by + 1);
}

static void put_changes(struct tabular *t, const struct latency_stats *is, const struct latency *before)
{
	struct latency_stats was = before ? rows_stats(before) : (struct latency_stats){};

	for (unsigned i = 0; i < NUM_STATS; i++) {
		if (t->terminal->width != TERMINAL_WIDE && names[i].change_is_wide)
			continue;
		if (before)
			put_change(tabular_cell(t, NULL), change(is->ns[i], was.ns[i]));
		else
			out_text(tabular_cell(t, NULL), "new");
	}
}

/* What a row is of: two states; "whole life", or with a family "TCP whole life"; or "to reply". */
static void put_states(struct tabular *t, const struct rows *rows, const struct latency *row, const char *sgr)
{
	struct slice family = names_family(rows, row->type);
	struct out *from = tabular_cell(t, sgr);

	if (rows_is_transition(row)) {
		names_text(from, rows->states.all[row->from]);
		names_text(tabular_cell(t, NULL), rows->states.all[row->to]);
		return;
	}
	names_text(from, family);
	out_text(from, family.n ? " " : "");
	out_text(from, rows_is_life(row) ? "whole life" : "to reply");
	tabular_cell(t, NULL);
}

static void put_row(struct tabular *t, const struct rows *rows, const struct ranked_row *r, const struct rows *base,
		    bool is_first)
{
	const struct latency *row = r->row;
	struct latency_stats stats = rows_stats(row);
	bool is_transition = rows_is_transition(row);
	const char *sgr = is_transition ? palette_layers[palette_of(spdk_tpoint(rows->states.all[row->from]))].sgr
					: NULL;

	tabular_row(t, is_first);
	names_text(tabular_cell(t, NULL), rows_letter(rows, row->type));
	put_states(t, rows, row, sgr);
	out_u64(tabular_cell(t, NULL), row->times.count);
	for (unsigned i = 0; i < NUM_STATS; i++)
		if (t->terminal->width == TERMINAL_WIDE || !names[i].is_wide)
			out_duration(tabular_cell(t, NULL), stats.ns[i]);
	if (base)
		put_changes(t, &stats, rows_find(base, rows, row));
	out_printf(tabular_cell(t, NULL), "%.1f", 100 * r->share);
	tabular_bar(t, sgr, is_transition ? r->share : 0);
}

/* Whether a row is the transition that takes most time in its group and type: they are sorted. */
static bool is_first_transition(const struct ranked_row *ranked, size_t i)
{
	const struct latency *row = ranked[i].row, *before = i ? ranked[i - 1].row : NULL;

	return rows_is_transition(row) &&
	       (!before || !rows_is_transition(before) || before->group != row->group || before->type != row->type);
}

void print_table(struct out *out, const struct rows *rows, const struct rows *base, const struct terminal *terminal)
{
	struct ranked_row *ranked = rows_ranked(rows);
	struct tabular t = {.terminal = terminal};

	if (rows->num_filled)
		print_interval(out, &rows->interval, terminal);
	add_columns(&t, base);
	for (size_t i = 0; i < rows->num_filled; i++) {
		struct slice group = rows_group(rows, ranked[i].row->group);

		if (group.n && (!i || ranked[i].row->group != ranked[i - 1].row->group))
			names_group(tabular_heading(&t), group, "");
		put_row(&t, rows, &ranked[i], base, is_first_transition(ranked, i));
	}
	tabular_print(&t, out);
	if (rows->num_filled && rows->interval.to)
		out_char(out, '\n');
	free(ranked);
}

static void print_stats(struct out *out, const struct latency_stats *stats)
{
	for (unsigned i = 0; i < NUM_STATS; i++)
		print_us(out, names[i].json, stats->ns[i]);
}

static void print_against(struct out *out, const struct latency_stats *is, const struct latency *before)
{
	struct latency_stats was = rows_stats(before);

	out_printf(out, ",\"against\":{\"count\":%" PRIu64, before->times.count);
	print_stats(out, &was);
	out_text(out, "},\"change\":{");
	for (unsigned i = 0; i < NUM_STATS; i++) {
		double by = change(is->ns[i], was.ns[i]);

		out_printf(out, "%s\"%s\":", i ? "," : "", names[i].json);
		/* JSON has no infinity */
		if (isfinite(by))
			out_printf(out, "%.4f", by);
		else
			out_text(out, "null");
	}
	out_char(out, '}');
}

void print_json(struct out *out, const struct rows *rows, const struct rows *base)
{
	struct ranked_row *ranked = rows_ranked(rows);

	for (size_t i = 0; i < rows->num_filled; i++) {
		const struct latency *row = ranked[i].row;
		const struct latency *before = base ? rows_find(base, rows, row) : NULL;
		struct latency_stats stats = rows_stats(row);

		out_char(out, '{');
		names_key(out, rows, row);
		print_interval_members(out, &rows->interval);
		out_printf(out, ",\"count\":%" PRIu64, row->times.count);
		print_stats(out, &stats);
		out_printf(out, ",\"share\":%.4f", ranked[i].share);
		if (before)
			print_against(out, &stats, before);
		out_text(out, "}\n");
	}
	free(ranked);
}

/* The numbers of values below powers of two, from the first that has values to the last. */
struct powers {
	uint64_t bounds[HISTOGRAM_POWERS + 1], below[HISTOGRAM_POWERS + 1], most;
	unsigned first, last;
};

static uint64_t power_count(const struct powers *p, unsigned i)
{
	return p->below[i + 1] - p->below[i];
}

static void measure_powers(struct powers *p, const struct histogram *times)
{
	*p = (struct powers){.last = HISTOGRAM_POWERS - 1};
	for (unsigned i = 1; i < HISTOGRAM_POWERS; i++)
		p->bounds[i] = (uint64_t)1 << i;
	p->bounds[HISTOGRAM_POWERS] = UINT64_MAX;
	histogram_below(times, p->bounds, HISTOGRAM_POWERS, p->below);
	p->below[HISTOGRAM_POWERS] = times->count;
	while (p->first < p->last && !p->below[p->first + 1])
		p->first++;
	while (p->last > p->first && p->below[p->last] == times->count)
		p->last--;
	for (unsigned i = p->first; i <= p->last; i++)
		p->most = max_u64(p->most, power_count(p, i));
}

static void put_histogram(struct tabular *t, const struct histogram *times)
{
	struct powers p;

	measure_powers(&p, times);
	for (unsigned i = p.first; i <= p.last; i++) {
		tabular_row(t, false);
		out_duration(tabular_cell(t, NULL), p.bounds[i]);
		out_duration(tabular_cell(t, NULL), p.bounds[i + 1]);
		out_u64(tabular_cell(t, NULL), power_count(&p, i));
		tabular_bar(t, NULL, ratio_part(power_count(&p, i), p.most));
	}
}

void print_histograms(struct out *out, const struct rows *rows, const struct terminal *terminal)
{
	struct ranked_row *ranked = rows_ranked(rows);
	struct tabular t = {.terminal = terminal};

	if (rows->num_filled)
		print_interval(out, &rows->interval, terminal);
	tabular_column(&t, TABULAR_NUMBER, "from");
	tabular_column(&t, TABULAR_NUMBER, "below");
	tabular_column(&t, TABULAR_NUMBER, "count");
	tabular_column(&t, TABULAR_BAR, "")->most = 40;
	for (size_t i = 0; i < rows->num_filled; i++) {
		names_row(tabular_heading(&t), rows, ranked[i].row);
		put_histogram(&t, &ranked[i].row->times);
	}
	tabular_print(&t, out);
	if (rows->num_filled && rows->interval.to)
		out_char(out, '\n');
	free(ranked);
}

void print_histograms_json(struct out *out, const struct rows *rows)
{
	struct ranked_row *ranked = rows_ranked(rows);

	for (size_t row = 0; row < rows->num_filled; row++) {
		struct powers p;

		measure_powers(&p, &ranked[row].row->times);
		out_char(out, '{');
		names_key(out, rows, ranked[row].row);
		print_interval_members(out, &rows->interval);
		out_printf(out, ",\"count\":%" PRIu64 ",\"buckets\":[", ranked[row].row->times.count);
		for (unsigned i = p.first; i <= p.last; i++) {
			out_text(out, i > p.first ? ",{\"from\":" : "{\"from\":");
			out_us(out, p.bounds[i]);
			print_us(out, "below", p.bounds[i + 1]);
			out_printf(out, ",\"count\":%" PRIu64 "}", power_count(&p, i));
		}
		out_text(out, "]}\n");
	}
	free(ranked);
}
