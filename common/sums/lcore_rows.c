/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore_rows.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "ratio.h"
#include "table.h"

static struct lcore_source *times_of(const struct lcore_rows *rows, uint32_t source)
{
	return &rows->times[source == MAP_NONE ? 0 : source + 1];
}

bool lcore_rows_has_sources(const struct lcore_rows *rows)
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
	return max_u64(row->last, rows->interval.from);
}

static void reset(struct lcore_silence *silence)
{
	silence->begin = silence->ns = silence->held_from = silence->held_to = 0;
	silence->cause.len = 0;
}

/* The silence since the latest entry lasts until ns, unless the lcore has worked meanwhile. */
static void measure_silence(const struct lcore_rows *rows, struct lcore_row *row, uint64_t ns, bool is_work)
{
	uint64_t begin = begin_of(rows, row);
	struct lcore_silence *longest = &row->longest;

	if (ns <= begin)
		return;
	if (ns - row->last <= LCORES_ACTIVE_NS || is_work)
		row->active += ns - begin;
	if (ns - begin <= longest->ns || is_work)
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
	uint32_t connection = connections_find(rows->connections, line, &arg), index = row - rows->all;
	struct lcore_use *use;

	if (connection == MAP_NONE || rows->connections->all[connection].kind > CONNECTION_QPAIR)
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
		measure_silence(rows, row, ns, rows->spans->is_work);
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

void lcore_rows_hold(struct lcore_rows *rows, const struct reactor *reactor, const struct reactors_interval *interval,
		     const struct traceline *line)
{
	uint32_t index = map_get(&rows->first, reactor->lcore);
	struct lcore_row *row;

	if (!rows->last_held)
		rows->first_held = interval->begin;
	rows->last_held = max_u64(rows->last_held, interval->end);
	if (reactor->has_source && reactor->source != MAP_NONE)
		row = find_row(rows, rows->spans->sources.all[reactor->source], reactor->lcore);
	else
		row = index == MAP_NONE ? NULL : &rows->all[index];
	if (!row)
		return;
	explain(&row->now, begin_of(rows, row), UINT64_MAX, interval, line);
	explain(&row->longest, row->longest.begin, row->longest.begin + row->longest.ns, interval, line);
}

void lcore_rows_request(struct lcore_rows *rows, const struct span *s)
{
	struct slice source = s->source == MAP_NONE ? (struct slice){} : rows->spans->sources.all[s->source];
	struct lcore_row *row = find_row(rows, source, s->lcore);

	if (row)
		row->requests++;
}

/* Adds the reactors that lines of offcpusnoop are about, and that wrote nothing; if it is clear of which source. */
static void add_idle(struct lcore_rows *rows)
{
	const struct reactors *reactors = &rows->spans->reactors;
	uint32_t source = rows->n ? rows->all[0].source : MAP_NONE;

	if (!rows->n || lcore_rows_has_sources(rows))
		return;
	for (size_t i = 0; i < reactors->n && rows->n < LCORE_ROWS_MAX; i++) {
		uint64_t lcore = reactors->all[i].lcore;

		if (map_get(&rows->first, lcore) == MAP_NONE)
			add_row(rows, source == MAP_NONE ? (struct slice){} : rows->sources.all[source], source, lcore);
	}
}

static int by_lcore(const void *a, const void *b, void *context)
{
	const struct lcore_row *x = ((const struct lcore_sum *)a)->row, *y = ((const struct lcore_sum *)b)->row;
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

/* The part of a silence that its cause explains, 0 to 1. */
static double explained(const struct lcore_silence *silence)
{
	uint64_t end = silence->begin + silence->ns;

	return ratio_part(common(silence->begin, end, silence->held_from, silence->held_to), silence->ns);
}

struct lcore_cause lcore_rows_cause(const struct lcore_rows *rows, const struct lcore_row *row)
{
	const struct lcore_silence *silence = &row->longest;
	double share = explained(silence);

	/* a line that explains less than a tenth of a silence is not its cause */
	if (share >= 0.1)
		return (struct lcore_cause){out_contents(&silence->cause), share};
	if (!silence->ns || !reactors_of(&rows->spans->reactors, row->lcore))
		return (struct lcore_cause){};
	/* at the end of an interval, lines about the end of its silence may still come */
	if (silence->begin < rows->first_held || silence->begin > rows->last_held ||
	    (rows->over && silence->begin + silence->ns > rows->last_held))
		return (struct lcore_cause){slice_of("?"), 0};
	return (struct lcore_cause){slice_of("its thread ran"), 0};
}

/* Sorts the uses, and sets those of the rows in their order. */
static void divide_uses(struct lcore_rows *rows, struct lcore_sum *sums)
{
	size_t use = 0;

	if (rows->num_uses)
		qsort(rows->uses, rows->num_uses, sizeof(*rows->uses), by_entries);
	for (size_t i = 0; i < rows->n; i++) {
		sums[i].uses = &rows->uses[use];
		while (use < rows->num_uses && rows->uses[use].row == i)
			use++;
		sums[i].num_uses = &rows->uses[use] - sums[i].uses;
	}
}

struct lcore_sum *lcore_rows_end(struct lcore_rows *rows, bool last)
{
	struct lcore_sum *sums;

	rows->over = last;
	add_idle(rows);
	if (!rows->n)
		return NULL;
	sums = mem_array(rows->n, sizeof(*sums));
	divide_uses(rows, sums);
	for (size_t i = 0; i < rows->n; i++) {
		struct lcore_row *row = &rows->all[i];
		const struct lcore_source *times = times_of(rows, row->source);
		uint64_t from = max_u64(rows->interval.from, times->first);
		uint64_t to = last ? times->last : rows->interval.to;

		measure_silence(rows, row, to, false);
		sums[i].row = row;
		sums[i].ns = to > from ? to - from : 0;
		if (row->source != MAP_NONE)
			sums[i].source = rows->sources.all[row->source];
	}
	qsort_r(sums, rows->n, sizeof(*sums), by_lcore, rows);
	return sums;
}

void lcore_rows_start(struct lcore_rows *rows, uint64_t ns, uint64_t length)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct lcore_row *row = &rows->all[i];

		row->entries = row->requests = row->active = 0;
		reset(&row->longest);
	}
	map_free(&rows->use_map);
	rows->num_uses = 0;
	rows->interval = interval_of(ns, length);
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
	*rows = (struct lcore_rows){};
}
