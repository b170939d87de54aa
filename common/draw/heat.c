/* SPDX-License-Identifier: BSD-3-Clause */
#include "heat.h"

#include <inttypes.h>
#include <stdlib.h>

#include "minmax.h"
#include "table.h"

enum { CELL_HEIGHT = 7 }; /* pixels */

static unsigned bits(uint64_t n)
{
	return n ? 64 - __builtin_clzll(n) : 0;
}

static uint32_t row_of(uint64_t life)
{
	unsigned power = bits(life | 1) - 1;

	return 2 * power + (power && life >> (power - 1) & 1);
}

uint64_t heat_life(uint32_t row)
{
	if (row == HEAT_ROWS)
		return UINT64_MAX;
	return row < 2 ? row : ((uint64_t)2 + row % 2) << (row / 2 - 1);
}

/* Where x is at least `first` and below first + HEAT_STEPS, no two cells have the same key. */
static void count(struct heat *h, struct heat_cell cell)
{
	uint64_t key = ((uint64_t)cell.map * HEAT_STEPS + cell.x % HEAT_STEPS) * HEAT_ROWS + cell.row;
	struct heat_cell *place = table_put(&h->map, key, h->cells, h->n, h->cap);

	cell.n += place->n;
	*place = cell;
}

/* Makes steps this many times as long. */
static void lengthen(struct heat *h, uint64_t factor)
{
	struct heat_cell *cells = h->cells;
	size_t n = h->n;

	map_free(&h->map);
	h->cells = NULL;
	h->n = h->cap = 0;
	h->step *= factor;
	h->first /= factor;
	h->last /= factor;
	for (size_t i = 0; i < n; i++) {
		cells[i].x /= factor;
		count(h, cells[i]);
	}
	free(cells);
}

void heat_add(struct heat *h, uint32_t map, uint64_t ns, uint64_t life)
{
	uint64_t x = ns / h->step, factor = 1;

	h->first = h->n ? min_u64(h->first, x) : x;
	h->last = h->n ? max_u64(h->last, x) : x;
	while (h->last / factor - h->first / factor >= HEAT_STEPS)
		factor *= 2;
	if (factor > 1)
		lengthen(h, factor);
	count(h, (struct heat_cell){.map = map, .x = ns / h->step, .row = row_of(life), .n = 1});
}

static int by_place(const void *a, const void *b)
{
	const struct heat_cell *x = a, *y = b;

	if (x->map != y->map)
		return x->map < y->map ? -1 : 1;
	if (x->x != y->x)
		return x->x < y->x ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

void heat_end(struct heat *h, uint64_t columns)
{
	uint64_t factor = 1;

	while (h->last / factor - h->first / factor >= columns)
		factor++;
	if (factor > 1)
		lengthen(h, factor);
	map_free(&h->map);
	if (h->n)
		qsort(h->cells, h->n, sizeof(*h->cells), by_place);
	for (size_t i = 0; i < h->n; i++)
		h->most = max_u64(h->most, h->cells[i].n);
}

/* The index of the first cell of this map or a later one. */
static size_t find(const struct heat *h, uint64_t map)
{
	size_t from = 0, to = h->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (h->cells[middle].map < map)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

const struct heat_cell *heat_cells(const struct heat *h, uint32_t map, size_t *n)
{
	size_t from = find(h, map);

	*n = find(h, (uint64_t)map + 1) - from;
	return h->cells + from;
}

void heat_rows(const struct heat_cell *cells, size_t n, uint32_t *low, uint32_t *high)
{
	*low = HEAT_ROWS - 1;
	*high = 0;
	for (size_t i = 0; i < n; i++) {
		*low = min_u64(*low, cells[i].row);
		*high = max_u64(*high, cells[i].row);
	}
}

uint64_t heat_time(const struct heat *h, uint64_t x)
{
	uint64_t ns;

	return __builtin_mul_overflow(x, h->step, &ns) ? UINT64_MAX : ns;
}

double heat_level(const struct heat *h, uint64_t n)
{
	return h->most > 1 ? (double)(bits(n) - 1) / (bits(h->most) - 1) : 1;
}

/* The scale has each second power of two, and the lowest row if there is room below. */
static void draw_scale(struct out *out, uint32_t low, uint32_t high, unsigned x, unsigned y)
{
	for (uint32_t row = low; row <= high; row++) {
		if (row % 4 && (row != low || row % 4 == 3))
			continue;
		out_printf(out, "<text class=\"n\" x=\"%u\" y=\"%u\">", x - 4, y + (high - row + 1) * CELL_HEIGHT);
		out_duration_text(out, heat_life(row));
		out_text(out, "</text>\n");
	}
}

static void draw_axis(struct out *out, const struct heat *h, unsigned x, unsigned y, unsigned width)
{
	out_printf(out, "<path class=\"axis\" d=\"M%u %u.5H%u\"/><text x=\"%u\" y=\"%u\">", x, y, x + width, x, y + 14);
	out_duration_text(out, heat_time(h, h->first));
	out_printf(out, "</text><text class=\"n\" x=\"%u\" y=\"%u\">", x + width, y + 14);
	out_duration_text(out, heat_time(h, h->last + 1));
	out_text(out, "</text>\n");
}

unsigned heat_draw(struct out *out, const struct heat *h, uint32_t map, unsigned x, unsigned y, unsigned width)
{
	double cell_width = (double)width / (double)(h->last - h->first + 1);
	uint32_t low, high;
	size_t n;
	const struct heat_cell *cells = heat_cells(h, map, &n);

	heat_rows(cells, n, &low, &high);
	/* room for the text of a scale at the top */
	high++;
	for (size_t i = 0; i < n; i++) {
		const struct heat_cell *c = &cells[i];

		out_printf(out,
			   "<rect class=\"heat\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
			   "fill-opacity=\"%.2f\"><title>",
			   x + (double)(c->x - h->first) * cell_width, y + (high - c->row) * CELL_HEIGHT, cell_width,
			   CELL_HEIGHT, heat_opacity(h, c->n));
		out_duration_text(out, heat_life(c->row));
		out_text(out, " to ");
		out_duration_text(out, heat_life(c->row + 1));
		out_printf(out, ": %" PRIu64 "</title></rect>\n", c->n);
	}
	draw_scale(out, low, high, x, y);
	y += (high - low + 1) * CELL_HEIGHT;
	draw_axis(out, h, x, y, width);
	return (high - low + 1) * CELL_HEIGHT + 22;
}

void heat_free(struct heat *h)
{
	map_free(&h->map);
	free(h->cells);
	*h = (struct heat){};
}
