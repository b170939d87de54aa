/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "code.h"
#include "json.h"
#include "utf8.h"

enum { MEAN, P50, P90, P99, P999, MAX, NUM_STATS };

static const struct {
	const char *json, *head, *change;
	unsigned thousandths; /* of a percent */
} stats[NUM_STATS] = {
	[MEAN] = {"mean", "mean_us", "mean%", 0},       [P50] = {"p50", "p50_us", "p50%", 50000},
	[P90] = {"p90", "p90_us", "p90%", 90000},       [P99] = {"p99", "p99_us", "p99%", 99000},
	[P999] = {"p999", "p99.9_us", "p99.9%", 99900}, [MAX] = {"max", "max_us", "max%", 0},
};

static uint64_t stat(const struct histogram *h, unsigned which)
{
	if (which == MEAN)
		return histogram_mean(h);
	return which == MAX ? h->max : histogram_percentile(h, stats[which].thousandths);
}

/* How much larger a statistic is than in the base, 0.1 for a tenth; infinite when it was 0. */
static double change(const struct row *row, const struct row *base, unsigned which)
{
	double is = stat(&row->times, which), was = stat(&base->times, which);

	return is == was ? 0 : is / was - 1;
}

/* What may go to a terminal of a JSON string, as written between its quotes. Ends the tool without memory. */
static char *visible(struct slice raw)
{
	char *plain = malloc(raw.n + 1), *text = malloc(UTF8_VISIBLE(raw.n) + 1);

	if (!plain || !text)
		err(EXIT_FAILURE, NULL);
	*utf8_visible(text, (struct slice){plain, json_unescape(plain, raw)}) = 0;
	free(plain);
	return text;
}

/* key=value, … */
static void write_group(FILE *f, struct slice group)
{
	struct slice key, value;
	const char *separator = "";
	struct json j;

	json_init(&j, group.p, group.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &value); separator = ", ") {
		char *k = visible(key), *v;

		if (value.p[0] == '"')
			v = visible((struct slice){value.p + 1, value.n - 2});
		else
			v = visible(slice_is(value, "null") ? slice_of("-") : value);
		fprintf(f, "%s%s=%s", separator, k, v);
		free(k);
		free(v);
	}
}

static char *group_text(struct slice group, const char *behind)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		err(EXIT_FAILURE, NULL);
	if (group.n) {
		write_group(f, group);
		fputs(behind, f);
	}
	/* an empty text may be missing without an error */
	if (fclose(f) != 0 || !text)
		err(EXIT_FAILURE, NULL);
	return text;
}

char *print_name(const struct rows *rows, const struct row *row)
{
	char *group = group_text(rows->groups.all[row->group], ": "), *name;
	char *type = visible(rows->types.all[row->type]), *from = NULL, *to = NULL;
	int n;

	if (row_is_life(row)) {
		n = asprintf(&name, "%s%s whole life", group, type);
	} else {
		from = visible(rows->states.all[row->from]);
		to = visible(rows->states.all[row->to]);
		n = asprintf(&name, "%s%s %s -> %s", group, type, from, to);
	}
	if (n < 0)
		err(EXIT_FAILURE, NULL);
	free(group);
	free(type);
	free(from);
	free(to);
	return name;
}

static void print_interval(struct out *out, struct interval i)
{
	const uint64_t second = 1000000000;

	if (i.to)
		out_printf(out, "%" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64 " s\n",
			   i.from / second, i.from % second, i.to / second, i.to % second);
}

/* A column of names: 24 characters or more, as names of tracepoints have up to 23. */
static void print_state(struct out *out, const struct rows *rows, uint32_t state)
{
	char *name = visible(rows->states.all[state]);
	int width = 0;

	for (const char *p = name; *p; p++)
		width += (*p & 0xc0) != 0x80;
	out_printf(out, " %s%*s", name, width < 24 ? 24 - width : 0, "");
	free(name);
}

static void print_head(struct out *out, const struct rows *base)
{
	out_printf(out, "%-6s %-24s %-24s %10s", "object", "from", "to", "count");
	for (unsigned i = 0; i < NUM_STATS; i++)
		out_printf(out, " %12s", stats[i].head);
	out_printf(out, " %7s", "share%");
	for (unsigned i = 0; base && i < NUM_STATS; i++)
		out_printf(out, " %8s", stats[i].change);
	out_text(out, "\n");
}

static void print_row(struct out *out, const struct rows *rows, const struct ranked *r,
		      const struct rows *base)
{
	const struct row *row = r->row, *before = base ? rows_like(base, rows, row) : NULL;
	char *type = visible(rows->types.all[row->type]);

	out_printf(out, "%-6s", type);
	free(type);
	if (row_is_life(row)) {
		out_printf(out, " %-24s %-24s", "whole", "life");
	} else {
		print_state(out, rows, row->from);
		print_state(out, rows, row->to);
	}
	out_printf(out, " %10" PRIu64, row->times.count);
	for (unsigned i = 0; i < NUM_STATS; i++) {
		uint64_t ns = stat(&row->times, i);

		out_printf(out, " %8" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
	}
	out_printf(out, " %7.2f", 100 * r->share);
	for (unsigned i = 0; base && i < NUM_STATS; i++)
		if (before)
			out_printf(out, " %+8.1f", 100 * change(row, before, i));
		else
			out_printf(out, " %8s", "new");
	out_text(out, "\n");
}

void print_table(struct out *out, const struct rows *rows, const struct rows *base,
		 struct interval interval)
{
	uint32_t n;
	struct ranked *ranked = rows_ranked(rows, &n);

	if (n)
		print_interval(out, interval);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || ranked[i].row->group != ranked[i - 1].row->group) {
			char *group = group_text(rows->groups.all[ranked[i].row->group], "\n");

			out_text(out, i ? "\n" : "");
			out_text(out, group);
			free(group);
			print_head(out, base);
		}
		print_row(out, rows, &ranked[i], base);
	}
	if (n && interval.to)
		out_text(out, "\n");
	free(ranked);
}

static void print_us(struct out *out, const char *key, uint64_t ns)
{
	out_printf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void print_change(struct out *out, const struct row *row, const struct row *before)
{
	const char *separator = "";

	out_printf(out, ",\"against\":{\"count\":%" PRIu64, before->times.count);
	for (unsigned i = 0; i < NUM_STATS; i++)
		print_us(out, stats[i].json, stat(&before->times, i));
	out_text(out, "},\"change\":{");
	for (unsigned i = 0; i < NUM_STATS; i++, separator = ",") {
		double by = change(row, before, i);

		/* JSON has no infinity */
		if (isfinite(by))
			out_printf(out, "%s\"%s\":%.4f", separator, stats[i].json, by);
		else
			out_printf(out, "%s\"%s\":null", separator, stats[i].json);
	}
	out_text(out, "}");
}

void print_json(struct out *out, const struct rows *rows, const struct rows *base,
		struct interval interval)
{
	uint32_t n;
	struct ranked *ranked = rows_ranked(rows, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct row *row = ranked[i].row;
		const struct row *before = base ? rows_like(base, rows, row) : NULL;

		out_text(out, "{");
		code_write_key(out, rows, row);
		if (interval.to) {
			print_us(out, "begin", interval.from);
			print_us(out, "end", interval.to);
		}
		out_printf(out, ",\"count\":%" PRIu64, row->times.count);
		for (unsigned k = 0; k < NUM_STATS; k++)
			print_us(out, stats[k].json, stat(&row->times, k));
		out_printf(out, ",\"share\":%.4f", ranked[i].share);
		if (before)
			print_change(out, row, before);
		out_text(out, "}\n");
	}
	free(ranked);
}

enum { POWERS = 64, STARS = 40 };

/* bcc's slots: 0 to 1, 2 to 3, 4 to 7 … Buckets do not cross a power of two, so the counts are exact. */
static void print_powers(struct out *out, const struct histogram *h)
{
	static const char stars[] = "****************************************";
	uint64_t counts[POWERS] = {}, most = 0, count;
	int last = 0, width;

	for (unsigned b = 0; histogram_next(h, &b, &count); b++) {
		uint64_t value = histogram_lowest(b);

		last = value < 2 ? 0 : 63 - __builtin_clzll(value);
		counts[last] += count;
		if (counts[last] > most)
			most = counts[last];
	}
	width = last < 32 ? 10 : 20;
	out_printf(out, "%*s%-*s : count     distribution\n", width - 5, "", width + 9, "nsecs");
	for (int i = 0; i <= last; i++) {
		uint64_t low = i ? (uint64_t)1 << i : 0, high = ((uint64_t)2 << i) - 1;

		out_printf(out, "%*" PRIu64 " -> %-*" PRIu64 " : %-8" PRIu64 " |%-*.*s|\n", width,
			   low, width, high, counts[i], STARS,
			   (int)((unsigned __int128)STARS * counts[i] / most), stars);
	}
}

void print_histograms(struct out *out, const struct rows *rows, struct interval interval)
{
	uint32_t n;
	struct ranked *ranked = rows_ranked(rows, &n);

	if (n)
		print_interval(out, interval);
	for (uint32_t i = 0; i < n; i++) {
		char *name = print_name(rows, ranked[i].row);

		out_printf(out, "%s%s\n", i ? "\n" : "", name);
		free(name);
		print_powers(out, &ranked[i].row->times);
	}
	if (n && interval.to)
		out_text(out, "\n");
	free(ranked);
}
