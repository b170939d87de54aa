/* SPDX-License-Identifier: BSD-3-Clause */
#include "series.h"

#include <stdlib.h>

#include "facts.h"
#include "mem.h"
#include "table.h"

/* In steps; UINT32_MAX if it is beyond any trace. */
static uint32_t step_of(const struct series *s, double us)
{
	double x = us / s->step;

	return x >= 0 && x < UINT32_MAX ? x : UINT32_MAX;
}

double series_life(uint32_t row)
{
	double life = row % SERIES_OCTAVE ? 1.4142135623730951 : 1;

	return life * ((uint64_t)1 << row / SERIES_OCTAVE) / 16;
}

static uint32_t row_of(double life)
{
	uint32_t row = 0;

	while (row + 1 < SERIES_ROWS && series_life(row + 1) <= life)
		row++;
	return row;
}

void series_request(struct series *s, double us, double life)
{
	struct series_cell *cell;
	uint32_t x, row;

	if (!s->step || s->num_cells == SERIES_CELLS)
		return;
	x = step_of(s, us + life);
	if (x == UINT32_MAX)
		return;
	row = row_of(life);
	cell = table_put(&s->map, (uint64_t)x << 32 | row, s->cells, s->num_cells, s->cap_cells);
	cell->x = x;
	cell->row = row;
	cell->n++;
}

static void see_wait(struct series *s, double us, struct slice wait)
{
	double all = facts_number(wait, "buffers"), most;
	struct slice holder = facts_largest(facts_text(wait, "holders"), &most);
	struct series_buffers *b;
	uint32_t x;

	if (!holder.n || !(all >= most) || s->num_buffers == SERIES_CELLS)
		return;
	x = step_of(s, us + facts_number(wait, "at") + facts_number(wait, "us"));
	if (x == UINT32_MAX)
		return;
	b = table_put(&s->buffers_map, x, s->buffers, s->num_buffers, s->cap_buffers);
	if (all <= b->all)
		return;
	free((char *)b->holder.p);
	*b = (struct series_buffers){x, all, most, mem_slice(holder)};
}

void series_waits(struct series *s, double us, struct slice waits)
{
	struct slice wait;
	struct json j;

	if (!s->step)
		return;
	for (facts_each(&j, waits); facts_next(&j, NULL, &wait);)
		see_wait(s, us, wait);
}

void series_free(struct series *s)
{
	for (size_t i = 0; i < s->num_buffers; i++)
		free((char *)s->buffers[i].holder.p);
	free(s->buffers);
	free(s->cells);
	map_free(&s->map);
	map_free(&s->buffers_map);
}
