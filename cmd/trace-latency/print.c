/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "utf8.h"

static const struct {
	const char *json, *head, *change;
} names[NUM_STATS] = {
	[STAT_MEAN] = {"mean", "mean_us", "mean%"},   [STAT_P50] = {"p50", "p50_us", "p50%"},
	[STAT_P90] = {"p90", "p90_us", "p90%"},       [STAT_P99] = {"p99", "p99_us", "p99%"},
	[STAT_P999] = {"p999", "p99.9_us", "p99.9%"}, [STAT_MAX] = {"max", "max_us", "max%"},
};

/* How much larger a time is than before, 0.1 for a tenth; infinite when it was 0. */
static double change(uint64_t is, uint64_t was)
{
	return is == was ? 0 : (double)is / (double)was - 1;
}

void print_interval(struct out *out, const struct rows_interval *interval)
{
	const uint64_t second = 1000000000, from = interval->from, to = interval->to;

	if (to)
		out_printf(out, "%" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64 " s\n", from / second,
			   from % second, to / second, to % second);
}

static void print_us(struct out *out, const char *key, uint64_t ns)
{
	out_printf(out, ",\"%s\":", key);
	out_us(out, ns);
}

void print_interval_members(struct out *out, const struct rows_interval *interval)
{
	if (!interval->to)
		return;
	print_us(out, "begin", interval->from);
	print_us(out, "end", interval->to);
}

/* A column of names. Its width is in characters, not bytes. */
static void print_column(struct out *out, struct slice raw, unsigned width)
{
	struct out text = {.fd = OUT_MEMORY};
	size_t n;

	rows_write_text(&text, raw);
	out_slice(out, out_contents(&text));
	n = utf8_count(out_contents(&text));
	out_printf(out, "%*s", n < width ? (int)(width - n) : 0, "");
	out_close(&text);
}

/* Wide enough for the type, and for names of tracepoints, which have up to 23 characters. */
enum { TYPE_WIDTH = 6, STATE_WIDTH = 24 };

static void print_head(struct out *out, const struct rows *base)
{
	out_printf(out, "%-*s %-*s %-*s %10s", TYPE_WIDTH, "object", STATE_WIDTH, "from", STATE_WIDTH, "to", "count");
	for (unsigned i = 0; i < NUM_STATS; i++)
		out_printf(out, " %12s", names[i].head);
	out_printf(out, " %7s", "share%");
	for (unsigned i = 0; base && i < NUM_STATS; i++)
		out_printf(out, " %8s", names[i].change);
	out_char(out, '\n');
}

static void print_changes(struct out *out, const struct latency_stats *is, const struct latency *before)
{
	struct latency_stats was = before ? rows_stats(before) : (struct latency_stats){};

	for (unsigned i = 0; i < NUM_STATS; i++)
		if (before)
			out_printf(out, " %+8.1f", 100 * change(is->ns[i], was.ns[i]));
		else
			out_printf(out, " %8s", "new");
}

/* In the column of the first state: whole, or FAMILY whole. first: its last word. */
static void print_life(struct out *out, struct slice family, const char *first)
{
	struct out text = {.fd = OUT_MEMORY};

	out_slice(&text, family);
	out_text(&text, family.n ? " " : "");
	out_text(&text, first);
	print_column(out, out_contents(&text), STATE_WIDTH);
	out_close(&text);
}

static void print_row(struct out *out, const struct rows *rows, const struct ranked_row *r, const struct rows *base)
{
	const struct latency *row = r->row;
	struct latency_stats stats = rows_stats(row);
	bool transition = rows_is_transition(row), life = rows_is_life(row);

	print_column(out, rows_letter(rows, row->type), TYPE_WIDTH);
	out_char(out, ' ');
	if (!transition)
		print_life(out, rows_shown_family(rows, row->type), life ? "whole" : "to");
	else
		print_column(out, rows->states.all[row->from], STATE_WIDTH);
	out_char(out, ' ');
	print_column(out, transition ? rows->states.all[row->to] : slice_of(life ? "life" : "reply"), STATE_WIDTH);
	out_printf(out, " %10" PRIu64, row->times.count);
	for (unsigned i = 0; i < NUM_STATS; i++)
		out_printf(out, " %8" PRIu64 ".%03u", stats.ns[i] / 1000, (unsigned)(stats.ns[i] % 1000));
	out_printf(out, " %7.2f", 100 * r->share);
	if (base)
		print_changes(out, &stats, rows_find(base, rows, row));
	out_char(out, '\n');
}

void print_table(struct out *out, const struct rows *rows, const struct rows *base)
{
	struct ranked_row *ranked = rows_ranked(rows);

	if (rows->num_filled)
		print_interval(out, &rows->interval);
	for (size_t i = 0; i < rows->num_filled; i++) {
		uint32_t group = ranked[i].row->group;

		if (!i || group != ranked[i - 1].row->group) {
			out_text(out, i ? "\n" : "");
			rows_write_group(out, rows->groups.all[group], "\n");
			print_head(out, base);
		}
		print_row(out, rows, &ranked[i], base);
	}
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
		rows_write_key(out, rows, row);
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

void print_histograms(struct out *out, const struct rows *rows)
{
	struct ranked_row *ranked = rows_ranked(rows);

	if (rows->num_filled)
		print_interval(out, &rows->interval);
	for (size_t i = 0; i < rows->num_filled; i++) {
		out_text(out, i ? "\n" : "");
		rows_write_name(out, rows, ranked[i].row);
		out_char(out, '\n');
		histogram_powers(out, &ranked[i].row->times, "nsecs", true);
	}
	if (rows->num_filled && rows->interval.to)
		out_char(out, '\n');
	free(ranked);
}
