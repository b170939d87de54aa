/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "minmax.h"
#include "names.h"
#include "palette.h"
#include "ratio.h"
#include "tabular.h"

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

enum { CHANGE_ROOM = 32, COLUMNS = 7 + 4 * NUM_STATS };

/* The columns of a row, and their texts. */
struct columns {
	struct column all[COLUMNS];
	size_t n;
	bool is_plain;
	char share[CHANGE_ROOM], changes[NUM_STATS][CHANGE_ROOM];
	struct out from;
};

static struct column_value *add(struct columns *c, const char *heading, const char *name, struct column_value value)
{
	c->all[c->n] = (struct column){heading, name, 0, value};
	return &c->all[c->n++].value;
}

/* What a row is of: a state, "whole life", "TCP whole life" of a family, or "to reply"; one word in plain tables. */
static void write_from(struct columns *c, const struct rows *rows, const struct latency *row)
{
	struct out *out = &c->from;
	struct slice family = names_family(rows, row->type);

	if (rows_is_transition(row)) {
		out_slice(out, rows->states.all[row->from]);
		return;
	}
	if (c->is_plain) {
		out_text(out, rows_is_life(row) ? "life" : "reply");
		return;
	}
	out_slice(out, family);
	out_text(out, family.n ? " " : "");
	out_text(out, rows_is_life(row) ? "whole life" : "to reply");
}

static void add_names(struct columns *c, const struct rows *rows, const struct latency *row)
{
	bool is_transition = rows_is_transition(row);

	write_from(c, rows, row);
	add(c, "obj", NULL, columns_least(TABULAR_LEAST, columns_raw(rows_letter(rows, row->type))));
	add(c, "from", NULL, columns_least(TABULAR_LEAST, columns_raw(out_contents(&c->from))))
		->sgr = is_transition ? palette_layers[palette_of(spdk_tpoint(rows->states.all[row->from]))].sgr : NULL;
	add(c, "to", NULL,
	    columns_least(TABULAR_LEAST,
			  is_transition ? columns_raw(rows->states.all[row->to]) : columns_word(slice_of(""))));
}

/* As a percentage; as a factor if the time is at least ten times as long; of a time that was 0, neither. */
static struct slice change_text(char room[CHANGE_ROOM], double by)
{
	if (isinf(by))
		return slice_of("-");
	snprintf(room, CHANGE_ROOM, by < 9 ? "%+.1f" : "x%.0f", by < 9 ? 100 * by : by + 1);
	return slice_of(room);
}

/* The times before, and how they have changed. before: NULL if there was no such row. */
static void add_changes(struct columns *c, const struct latency_stats *is, const struct latency *before)
{
	struct latency_stats was = before ? rows_stats(before) : (struct latency_stats){};

	if (before)
		add(c, NULL, "count", columns_in("against", columns_number(before->times.count)));
	for (unsigned i = 0; before && i < NUM_STATS; i++)
		add(c, NULL, names[i].json, columns_in("against", columns_us(was.ns[i])));
	for (unsigned i = 0; i < NUM_STATS; i++) {
		double by = change(is->ns[i], was.ns[i]);

		if (c->is_plain || !names[i].change_is_wide)
			add(c, names[i].change, NULL,
			    columns_word(before ? change_text(c->changes[i], by) : slice_of("new")));
		/* JSON has no infinity */
		if (before)
			add(c, NULL, names[i].json,
			    columns_in("change",
				       isfinite(by) ? columns_part(by) : (struct column_value){.kind = COLUMN_NULL}));
	}
}

static void add_columns(struct columns *c, const struct rows *rows, const struct ranked_row *r, const struct rows *base)
{
	const struct latency *row = r->row;
	struct latency_stats stats = rows_stats(row);

	c->n = c->from.len = 0;
	add_names(c, rows, row);
	add(c, "count", "count", columns_number(row->times.count));
	for (unsigned i = 0; i < NUM_STATS; i++)
		add(c, c->is_plain || !names[i].is_wide ? names[i].head : NULL, names[i].json,
		    columns_spare(names[i].spare, columns_duration(stats.ns[i])));
	add(c, NULL, "share", columns_part(r->share));
	if (base)
		add_changes(c, &stats, rows_find(base, rows, row));
	snprintf(c->share, sizeof(c->share), "%.1f", 100 * r->share);
	add(c, "share%", NULL, columns_spare(3, columns_word(slice_of(c->share))));
}

/* Whether a row is the transition that takes most time in its group and type: they are sorted. */
static bool is_first_transition(const struct ranked_row *ranked, size_t i)
{
	const struct latency *row = ranked[i].row, *before = i ? ranked[i - 1].row : NULL;

	return rows_is_transition(row) &&
	       (!before || !rows_is_transition(before) || before->group != row->group || before->type != row->type);
}

/* A row of the table for people: those of each group are below a heading. */
static void put_row(struct cells *t, const struct rows *rows, const struct ranked_row *ranked, size_t i,
		    const struct columns *c)
{
	const struct latency *row = ranked[i].row;
	struct slice group = rows_group(rows, row->group);

	if (!i)
		print_interval(&t->to->out, t->interval, t->t.terminal);
	if (group.n && (!i || row->group != ranked[i - 1].row->group))
		names_group(tabular_heading(&t->t), group, "");
	tabular_row(&t->t, is_first_transition(ranked, i));
	tabular_put(&t->t, c->all, c->n);
	if (!i)
		tabular_column(&t->t, TABULAR_BAR, "")->drop = UINT_MAX;
	tabular_bar(&t->t, c->all[1].value.sgr, rows_is_transition(row) ? ranked[i].share : 0);
}

static void write_json(struct out *out, const struct rows *rows, const struct latency *row, const struct columns *c)
{
	out_char(out, '{');
	names_key(out, rows, row);
	print_interval_members(out, &rows->interval);
	columns_members(out, ',', c->all, c->n);
	out_text(out, "}\n");
}

void print_table(struct output *to, const struct rows *rows, const struct rows *base)
{
	struct ranked_row *ranked = rows_ranked(rows);
	struct cells t = cells_start(to, &rows->interval);
	struct columns c = {.from.fd = OUT_MEMORY, .is_plain = output_is_plain(to)};

	for (size_t i = 0; i < rows->num_filled; i++) {
		const struct latency *row = ranked[i].row;

		add_columns(&c, rows, &ranked[i], base);
		if (to->is_json)
			write_json(&to->out, rows, row, &c);
		else if (c.is_plain)
			/* the name has the type */
			cells_named_row(&t, rows, &(struct rows_name){row->group, row->type}, c.all + 1, c.n - 1);
		else
			put_row(&t, rows, ranked, i, &c);
	}
	cells_end(&t);
	out_close(&c.from);
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

static void put_histogram(struct tabular *t, const struct powers *p)
{
	for (unsigned i = p->first; i <= p->last; i++) {
		tabular_row(t, false);
		out_duration(tabular_cell(t, NULL), p->bounds[i]);
		out_duration(tabular_cell(t, NULL), p->bounds[i + 1]);
		out_u64(tabular_cell(t, NULL), p->counts[i]);
		tabular_bar(t, NULL, ratio_part(p->counts[i], p->most));
	}
}

/* A row for each power of two. */
static void put_plain(struct cells *t, const struct rows *rows, const struct latency *row, const struct powers *p)
{
	struct columns c = {.from.fd = OUT_MEMORY, .is_plain = true};

	add_names(&c, rows, row);
	for (unsigned i = p->first, names = c.n; i <= p->last; i++, c.n = names) {
		add(&c, "least", NULL, columns_us(p->bounds[i]));
		add(&c, "below", NULL, columns_us(p->bounds[i + 1]));
		add(&c, "count", NULL, columns_number(p->counts[i]));
		cells_named_row(t, rows, &(struct rows_name){row->group, row->type}, c.all + 1, c.n - 1);
	}
	out_close(&c.from);
}

static void write_histogram(struct out *out, const struct rows *rows, const struct latency *row, const struct powers *p)
{
	out_char(out, '{');
	names_key(out, rows, row);
	print_interval_members(out, &rows->interval);
	out_printf(out, ",\"count\":%" PRIu64 ",\"buckets\":[", row->times.count);
	for (unsigned i = p->first; i <= p->last; i++) {
		out_text(out, i > p->first ? ",{\"from\":" : "{\"from\":");
		out_us(out, p->bounds[i]);
		print_us(out, "below", p->bounds[i + 1]);
		out_printf(out, ",\"count\":%" PRIu64 "}", p->counts[i]);
	}
	out_text(out, "]}\n");
}

void print_histograms(struct output *to, const struct rows *rows)
{
	struct ranked_row *ranked = rows_ranked(rows);
	struct cells t = cells_start(to, &rows->interval);

	if (output_is_human(to) && rows->num_filled) {
		print_interval(&to->out, &rows->interval, &to->terminal);
		tabular_column(&t.t, TABULAR_NUMBER, "from");
		tabular_column(&t.t, TABULAR_NUMBER, "below");
		tabular_column(&t.t, TABULAR_NUMBER, "count");
		tabular_column(&t.t, TABULAR_BAR, "")->most = 40;
	}
	for (size_t i = 0; i < rows->num_filled; i++) {
		const struct latency *row = ranked[i].row;
		struct powers p;

		measure_powers(&p, &row->times);
		if (to->is_json) {
			write_histogram(&to->out, rows, row, &p);
		} else if (output_is_plain(to)) {
			put_plain(&t, rows, row, &p);
		} else {
			names_row(tabular_heading(&t.t), rows, row);
			put_histogram(&t.t, &p);
		}
	}
	cells_end(&t);
	free(ranked);
}
