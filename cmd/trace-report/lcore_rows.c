/* SPDX-License-Identifier: BSD-3-Clause */
#include "lcore_rows.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "ratio.h"
#include "table.h"

/* A new row: the lcore has been silent since the first entry of another one. */
static struct lcore_row *add_row(struct lcore_rows *rows, uint64_t lcore)
{
	struct lcore_row *row = table_put(&rows->map, lcore, rows->all, rows->n, rows->cap);

	*row = (struct lcore_row){.lcore = lcore, .last = rows->first};
	return row;
}

static struct lcore_row *find_row(const struct lcore_rows *rows, uint64_t lcore)
{
	uint32_t index = map_get(&rows->map, lcore);

	return index == MAP_NONE ? NULL : &rows->all[index];
}

struct cause {
	const struct held *held;
	struct lcore_silence *silence;
};

/* Takes a line of offcpusnoop as the cause of a silence, if it explains more than another one. */
static void explain(void *context, const struct reactor *reactor, struct reactors_interval *interval, uint64_t ns)
{
	const struct cause *c = context;

	(void)reactor;
	if (ns <= c->silence->held)
		return;
	c->silence->held = ns;
	c->silence->cause = held_text(c->held, interval);
}

/* The silence since the latest entry lasts until ns, unless the lcore has worked meanwhile. */
static void measure_silence(struct lcore_rows *rows, struct lcore_row *row, uint64_t ns, bool is_work)
{
	const struct reactor *reactor = reactors_of(&rows->spans->reactors, row->lcore);
	uint64_t begin = row->last;

	if (ns <= begin)
		return;
	if (ns - begin <= LCORES_ACTIVE_NS || is_work)
		row->active += ns - begin;
	if (ns - begin <= row->longest.ns || is_work)
		return;
	row->longest = (struct lcore_silence){.begin = begin, .ns = ns - begin};
	if (reactor)
		reactors_each(reactor, begin, ns, explain, &(struct cause){rows->held, &row->longest});
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
	uint64_t lcore;

	if (!number_decimal(line->lcore, &lcore))
		return;
	if (!rows->n)
		rows->first = ns;
	rows->last = max_u64(rows->last, ns);
	row = find_row(rows, lcore);
	if (!row)
		row = add_row(rows, lcore);
	/* what the lcore did where entries are missing is not known */
	if (!line->lost)
		measure_silence(rows, row, ns, rows->spans->is_work);
	row->last = max_u64(row->last, ns);
	row->entries++;
	count_connection(rows, row, line);
}

void lcore_rows_request(struct lcore_rows *rows, const struct span *s)
{
	struct lcore_row *row = find_row(rows, s->lcore);

	if (row)
		row->requests++;
}

/* Adds the reactors that lines of offcpusnoop are about, and that wrote nothing. */
static void add_idle(struct lcore_rows *rows)
{
	const struct reactors *reactors = &rows->spans->reactors;

	for (size_t i = 0; i < reactors->n; i++)
		if (!find_row(rows, reactors->all[i].lcore))
			add_row(rows, reactors->all[i].lcore);
}

static int by_lcore(const void *a, const void *b)
{
	uint64_t x = ((const struct lcore_sum *)a)->row->lcore, y = ((const struct lcore_sum *)b)->row->lcore;

	return (x > y) - (x < y);
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

struct lcore_cause lcore_rows_cause(const struct lcore_row *row)
{
	const struct lcore_silence *silence = &row->longest;
	double share = ratio_part(silence->held, silence->ns);

	/* a line that explains less than a tenth of a silence is not its cause */
	if (share < 0.1)
		return (struct lcore_cause){};
	return (struct lcore_cause){silence->cause, share};
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

struct lcore_sum *lcore_rows_end(struct lcore_rows *rows)
{
	struct lcore_sum *sums;

	if (!rows->n)
		return NULL;
	add_idle(rows);
	sums = mem_array(rows->n, sizeof(*sums));
	divide_uses(rows, sums);
	for (size_t i = 0; i < rows->n; i++) {
		struct lcore_row *row = &rows->all[i];

		measure_silence(rows, row, rows->last, false);
		sums[i].row = row;
		sums[i].ns = rows->last - rows->first;
	}
	qsort(sums, rows->n, sizeof(*sums), by_lcore);
	return sums;
}

void lcore_rows_free(struct lcore_rows *rows)
{
	map_free(&rows->map);
	map_free(&rows->use_map);
	free(rows->all);
	free(rows->uses);
	*rows = (struct lcore_rows){};
}
