/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cells.h"
#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "print.h"
#include "table.h"

static struct lcore_source *times_of(const struct lcore_rows *rows, uint32_t source)
{
	return &rows->times[source == MAP_NONE ? 0 : source + 1];
}

/* Whether there are lines of several sources; those without one count as one. */
static bool has_sources(const struct lcore_rows *rows)
{
	return rows->num_times > 2 || (rows->num_times == 2 && rows->times[0].last);
}

static uint64_t key_of(struct slice source, uint64_t lcore)
{
	return traceline_in_source(&(struct traceline){.source = source}, lcore);
}

/* A new row, of a lcore of a source whose times are known. */
static struct lcore_row *add_row(struct lcore_rows *rows, struct slice name, uint32_t source, uint64_t lcore)
{
	struct lcore_row *row = table_put(&rows->map, key_of(name, lcore), rows->all, rows->n, rows->cap);
	uint32_t *first = map_put(&rows->first, lcore);

	if (*first == MAP_NONE)
		*first = row - rows->all;
	*row = (struct lcore_row){.source = source,
				  .lcore = lcore,
				  .last = times_of(rows, source)->first,
				  .longest.cause.fd = OUT_MEMORY,
				  .now.cause.fd = OUT_MEMORY};
	return row;
}

static struct lcore_row *find_row(const struct lcore_rows *rows, struct slice source, uint64_t lcore)
{
	uint32_t index = map_get(&rows->map, key_of(source, lcore));

	return index == MAP_NONE ? NULL : &rows->all[index];
}

static uint32_t see_source(struct lcore_rows *rows, struct slice name, uint64_t ns)
{
	uint32_t source = name.p ? intern_add(&rows->sources, name) : MAP_NONE;
	size_t index = source == MAP_NONE ? 0 : source + 1;
	struct lcore_source *times = table_at(rows->times, rows->num_times, rows->cap_times, index);

	if (!times->seen)
		*times = (struct lcore_source){.first = ns, .seen = true};
	times->last = max_u64(times->last, ns);
	return source;
}

/* Where the silence since the latest entry begins, as far as it is in the interval. */
static uint64_t begin_of(const struct lcore_rows *rows, const struct lcore_row *row)
{
	return max_u64(row->last, rows->from);
}

static void reset(struct lcore_silence *silence)
{
	silence->begin = silence->ns = silence->held_from = silence->held_to = 0;
	silence->cause.len = 0;
}

/* The silence since the latest entry lasts until ns. */
static void measure_silence(const struct lcore_rows *rows, struct lcore_row *row, uint64_t ns)
{
	uint64_t begin = begin_of(rows, row);
	struct lcore_silence *longest = &row->longest;

	if (ns <= begin)
		return;
	if (ns - row->last <= LCORES_ACTIVE_NS)
		row->active += ns - begin;
	if (ns - begin <= longest->ns)
		return;
	reset(longest);
	longest->begin = begin;
	longest->ns = ns - begin;
	longest->held_from = row->now.held_from;
	longest->held_to = row->now.held_to;
	out_slice(&longest->cause, out_contents(&row->now.cause));
}

/* The time between `from` and `to` that is in another interval as well. */
static uint64_t common(uint64_t from, uint64_t to, uint64_t other_from, uint64_t other_to)
{
	from = max_u64(from, other_from);
	to = min_u64(to, other_to);
	return to > from ? to - from : 0;
}

static void count_connection(struct lcore_rows *rows, const struct lcore_row *row, const struct traceline *line)
{
	size_t arg;
	uint32_t connection = connections_find(&rows->connections, line, &arg), index = row - rows->all;
	struct lcore_use *use;

	if (connection == MAP_NONE || rows->connections.all[connection].kind > CONNECTION_QPAIR)
		return;
	use = table_put(&rows->use_map, (uint64_t)index << 32 | connection, rows->uses, rows->num_uses, rows->cap_uses);
	use->row = index;
	use->connection = connection;
	use->entries++;
}

void lcore_rows_line(struct lcore_rows *rows, const struct traceline *line, uint64_t ns)
{
	struct lcore_row *row;
	uint32_t source;
	uint64_t lcore;

	if (!number_decimal(line->lcore, &lcore))
		return;
	row = find_row(rows, line->source, lcore);
	if (!row && rows->n == LCORE_ROWS_MAX) {
		rows->beyond++;
		return;
	}
	source = see_source(rows, line->source, ns);
	if (!row)
		row = add_row(rows, line->source, source, lcore);
	/* what the lcore did where entries are missing is not known */
	if (!line->lost)
		measure_silence(rows, row, ns);
	reset(&row->now);
	row->last = max_u64(row->last, ns);
	row->entries++;
	count_connection(rows, row, line);
}

/* Takes a line of offcpusnoop as the cause of a silence between two times, if it explains more than another one. */
static void explain(struct lcore_silence *silence, uint64_t from, uint64_t to, const struct reactors_interval *interval,
		    const struct traceline *line)
{
	if (common(from, to, interval->begin, interval->end) <= common(from, to, silence->held_from, silence->held_to))
		return;
	silence->held_from = interval->begin;
	silence->held_to = interval->end;
	silence->cause.len = 0;
	reactors_write(&silence->cause, line);
}

void lcore_rows_hold(struct lcore_rows *rows, const struct spans *spans, const struct reactor *reactor,
		     const struct reactors_interval *interval, const struct traceline *line)
{
	uint32_t index = map_get(&rows->first, reactor->lcore);
	struct lcore_row *row;

	if (!rows->last_held)
		rows->first_held = interval->begin;
	rows->last_held = max_u64(rows->last_held, interval->end);
	if (reactor->has_source && reactor->source != MAP_NONE)
		row = find_row(rows, spans->sources.all[reactor->source], reactor->lcore);
	else
		row = index == MAP_NONE ? NULL : &rows->all[index];
	if (!row)
		return;
	explain(&row->now, begin_of(rows, row), UINT64_MAX, interval, line);
	explain(&row->longest, row->longest.begin, row->longest.begin + row->longest.ns, interval, line);
}

void lcore_rows_request(struct lcore_rows *rows, const struct spans *spans, const struct span *s)
{
	struct slice source = s->source == MAP_NONE ? (struct slice){} : spans->sources.all[s->source];
	struct lcore_row *row = find_row(rows, source, s->lcore);

	if (row)
		row->requests++;
}

/* Adds the reactors that lines of offcpusnoop are about, and that wrote nothing; if it is clear of which source. */
static void add_idle(struct lcore_rows *rows, const struct spans *spans)
{
	uint32_t source = rows->n ? rows->all[0].source : MAP_NONE;

	if (!rows->n || has_sources(rows))
		return;
	for (size_t i = 0; i < spans->reactors.n && rows->n < LCORE_ROWS_MAX; i++) {
		uint64_t lcore = spans->reactors.all[i].lcore;

		if (map_get(&rows->first, lcore) == MAP_NONE)
			add_row(rows, source == MAP_NONE ? (struct slice){} : rows->sources.all[source], source, lcore);
	}
}

static int by_lcore(const void *a, const void *b, void *context)
{
	const struct lcore_row *x = *(struct lcore_row *const *)a, *y = *(struct lcore_row *const *)b;
	const struct slice *sources = ((const struct lcore_rows *)context)->sources.all;

	if (x->source != y->source && x->source != MAP_NONE && y->source != MAP_NONE)
		return slice_compare(sources[x->source], sources[y->source]);
	if (x->source != y->source)
		return x->source == MAP_NONE ? -1 : 1;
	return (x->lcore > y->lcore) - (x->lcore < y->lcore);
}

/* Those of a row next to each other, the one with most entries first. */
static int by_entries(const void *a, const void *b)
{
	const struct lcore_use *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->entries != y->entries)
		return x->entries > y->entries ? -1 : 1;
	return (x->connection > y->connection) - (x->connection < y->connection);
}

/* What is printed of a row. */
struct printed {
	struct lcore_row *row;
	struct slice source;          /* empty: none */
	uint64_t ns;                  /* of the trace or the interval */
	const struct lcore_use *uses; /* sorted */
	size_t num_uses;
	struct out names; /* for the table */
};

/* The part of a silence that its cause explains, 0 to 1. */
static double explained(const struct lcore_silence *silence)
{
	uint64_t end = silence->begin + silence->ns;

	return print_part(common(silence->begin, end, silence->held_from, silence->held_to), silence->ns);
}

/* A line that explains less than a tenth of a silence is not its cause. */
static bool has_cause(const struct lcore_silence *silence)
{
	return explained(silence) >= 0.1;
}

/* What is printed if no line is the cause. NULL: there was no silence, or offcpusnoop did not record the reactor. */
static const char *without_cause(const struct lcore_rows *rows, const struct lcore_silence *silence,
				 const struct reactor *reactor)
{
	if (!silence->ns || !reactor)
		return NULL;
	/* at the end of an interval, lines about the end of its silence may still come */
	if (silence->begin < rows->first_held || silence->begin > rows->last_held ||
	    (rows->over && silence->begin + silence->ns > rows->last_held))
		return "?";
	return "its thread ran";
}

static void put_cause(struct out *out, const struct lcore_rows *rows, const struct printed *p,
		      const struct spans *spans)
{
	const struct lcore_silence *silence = &p->row->longest;
	const char *other = without_cause(rows, silence, reactors_of(&spans->reactors, p->row->lcore));

	if (!has_cause(silence)) {
		out_text(out, other ? other : "-");
		return;
	}
	rows_write_text(out, out_contents(&silence->cause));
	out_printf(out, ", %.0f%%", 100 * explained(silence));
}

static void name_few(struct lcore_rows *rows, struct printed *p)
{
	enum { FEW = 3 };

	for (size_t i = 0; i < p->num_uses && i < FEW; i++) {
		out_text(&p->names, i ? "," : "");
		out_slice(&p->names, connections_name(&rows->connections, p->uses[i].connection)->name);
	}
	if (p->num_uses > FEW)
		out_printf(&p->names, ",+%zu", p->num_uses - FEW);
	if (!p->num_uses)
		out_char(&p->names, '-');
}

static void put_row(struct tabular *t, const struct lcore_rows *rows, const struct printed *p,
		    const struct spans *spans)
{
	const struct lcore_row *row = p->row;
	const struct lcore_silence *silence = &row->longest;

	tabular_row(t, false);
	if (has_sources(rows))
		rows_write_text(tabular_cell(t, NULL), p->source.n ? p->source : slice_of("-"));
	out_u64(tabular_cell(t, NULL), row->lcore);
	out_u64(tabular_cell(t, NULL), row->entries);
	cells_put_number(t, NULL, 100 * print_part(row->active, p->ns));
	out_u64(tabular_cell(t, NULL), row->requests);
	cells_put_number(t, NULL, print_per_second(row->requests, p->ns));
	out_u64(tabular_cell(t, NULL), p->num_uses);
	out_visible(tabular_cell(t, NULL), out_contents(&p->names));
	out_duration(tabular_cell(t, NULL), silence->ns);
	out_us(tabular_cell(t, NULL), silence->begin);
	put_cause(tabular_cell(t, NULL), rows, p, spans);
}

static void print_table_of(struct lcore_rows *rows, struct out *out, const struct spans *spans,
			   const struct printed *all, const struct terminal *terminal)
{
	struct tabular t = {.terminal = terminal};

	if (has_sources(rows))
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
		put_row(&t, rows, &all[i], spans);
	tabular_print(&t, out);
}

static void print_silence(struct out *out, const struct lcore_rows *rows, const struct printed *p,
			  const struct spans *spans)
{
	const struct lcore_silence *silence = &p->row->longest;
	const char *other = without_cause(rows, silence, reactors_of(&spans->reactors, p->row->lcore));

	out_text(out, ",\"silence\":{\"begin\":");
	out_us(out, silence->begin);
	out_text(out, ",\"us\":");
	out_us(out, silence->ns);
	if (has_cause(silence)) {
		out_text(out, ",\"cause\":\"");
		out_slice(out, out_contents(&silence->cause));
		out_printf(out, "\",\"share\":%.4f", explained(silence));
	} else if (other) {
		out_printf(out, ",\"cause\":\"%s\"", other);
	}
	out_char(out, '}');
}

static void print_line_of(struct lcore_rows *rows, struct out *out, const struct spans *spans, const struct printed *p,
			  const struct rows_interval *interval)
{
	const struct lcore_row *row = p->row;

	out_char(out, '{');
	if (p->source.n) {
		out_text(out, "\"source\":\"");
		out_slice(out, p->source);
		out_text(out, "\",");
	}
	out_printf(out, "\"lcore\":%" PRIu64, row->lcore);
	print_interval_members(out, interval);
	out_printf(out, ",\"entries\":%" PRIu64 ",\"active\":%.4f,\"requests\":%" PRIu64 ",\"iops\":%.1f", row->entries,
		   print_part(row->active, p->ns), row->requests, print_per_second(row->requests, p->ns));
	out_text(out, ",\"connections\":[");
	for (size_t i = 0; i < p->num_uses; i++) {
		out_text(out, i ? ",{\"name\":" : "{\"name\":");
		out_json(out, connections_name(&rows->connections, p->uses[i].connection)->name);
		out_printf(out, ",\"entries\":%" PRIu64 "}", p->uses[i].entries);
	}
	out_char(out, ']');
	print_silence(out, rows, p, spans);
	out_text(out, "}\n");
}

/* Sets what is printed of the rows, in their order. */
static void prepare(struct lcore_rows *rows, struct printed *all, uint64_t to)
{
	const struct lcore_row **sorted = mem_array(rows->n, sizeof(*sorted));
	size_t *first = mem_array(rows->n + 1, sizeof(*first));

	if (rows->num_uses)
		qsort(rows->uses, rows->num_uses, sizeof(*rows->uses), by_entries);
	for (size_t i = 0, use = 0; i <= rows->n; i++) {
		first[i] = use;
		while (use < rows->num_uses && rows->uses[use].row == i)
			use++;
	}
	for (size_t i = 0; i < rows->n; i++)
		sorted[i] = &rows->all[i];
	qsort_r(sorted, rows->n, sizeof(*sorted), by_lcore, rows);
	for (size_t i = 0; i < rows->n; i++) {
		size_t index = sorted[i] - rows->all;
		struct lcore_row *row = &rows->all[index];
		const struct lcore_source *times = times_of(rows, row->source);
		uint64_t from = max_u64(rows->from, times->first), end = to == UINT64_MAX ? times->last : to;

		measure_silence(rows, row, end);
		all[i] = (struct printed){.row = row,
					  .ns = end > from ? end - from : 0,
					  .uses = &rows->uses[first[index]],
					  .num_uses = first[index + 1] - first[index],
					  .names.fd = OUT_MEMORY};
		if (row->source != MAP_NONE)
			all[i].source = rows->sources.all[row->source];
		name_few(rows, &all[i]);
	}
	free(sorted);
	free(first);
}

void lcore_rows_print(struct lcore_rows *rows, struct out *out, const struct spans *spans, uint64_t to,
		      const struct rows_interval *interval, const struct terminal *terminal)
{
	struct printed *all;

	rows->over = to == UINT64_MAX;
	add_idle(rows, spans);
	if (!rows->n)
		return;
	all = mem_array(rows->n, sizeof(*all));
	prepare(rows, all, to);
	if (terminal) {
		print_interval(out, interval, terminal);
		print_table_of(rows, out, spans, all, terminal);
	}
	for (size_t i = 0; i < rows->n; i++) {
		if (!terminal)
			print_line_of(rows, out, spans, &all[i], interval);
		out_close(&all[i].names);
	}
	if (terminal && interval->to)
		out_char(out, '\n');
	free(all);
}

void lcore_rows_start(struct lcore_rows *rows, uint64_t from)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct lcore_row *row = &rows->all[i];

		row->entries = row->requests = row->active = 0;
		reset(&row->longest);
	}
	map_free(&rows->use_map);
	rows->num_uses = 0;
	rows->from = from;
}

void lcore_rows_free(struct lcore_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		out_close(&rows->all[i].longest.cause);
		out_close(&rows->all[i].now.cause);
	}
	map_free(&rows->map);
	map_free(&rows->first);
	map_free(&rows->use_map);
	free(rows->all);
	free(rows->times);
	free(rows->uses);
	intern_free(&rows->sources);
	connections_free(&rows->connections);
	*rows = (struct lcore_rows){};
}
