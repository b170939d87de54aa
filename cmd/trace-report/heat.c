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

/* The shortest life of a row, in ns; UINT64_MAX for HEAT_ROWS. */
static uint64_t life_of(uint32_t row)
{
	if (row == HEAT_ROWS)
		return UINT64_MAX;
	return row < 2 ? row : ((uint64_t)2 + row % 2) << (row / 2 - 1);
}

/* Where x is at least `first` and below first + HEAT_STEPS, no two cells have the same key. */
static void count(struct heat *h, struct heat_cell cell)
{
	uint64_t key = cell.x % HEAT_STEPS * HEAT_ROWS + cell.row;
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

void heat_add(struct heat *h, uint64_t ns, uint64_t life)
{
	uint64_t x = ns / h->step, factor = 1;

	h->first = h->n ? min_u64(h->first, x) : x;
	h->last = h->n ? max_u64(h->last, x) : x;
	while (h->last / factor - h->first / factor >= HEAT_STEPS)
		factor *= 2;
	if (factor > 1)
		lengthen(h, factor);
	count(h, (struct heat_cell){.x = ns / h->step, .row = row_of(life), .n = 1});
}

static int by_place(const void *a, const void *b)
{
	const struct heat_cell *x = a, *y = b;

	if (x->x != y->x)
		return x->x < y->x ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* The scale has each second power of two, and the lowest row if there is room below. */
static void draw_scale(struct out *out, uint32_t low, uint32_t high, unsigned x, unsigned y)
{
	for (uint32_t row = low; row <= high; row++) {
		if (row % 4 && (row != low || row % 4 == 3))
			continue;
		out_printf(out, "<text class=\"n\" x=\"%u\" y=\"%u\">", x - 4, y + (high - row + 1) * CELL_HEIGHT);
		out_duration_text(out, life_of(row));
		out_text(out, "</text>\n");
	}
}

static void draw_axis(struct out *out, const struct heat *h, unsigned x, unsigned y, unsigned width)
{
	out_printf(out, "<path class=\"axis\" d=\"M%u %u.5H%u\"/><text x=\"%u\" y=\"%u\">", x, y, x + width, x, y + 14);
	out_duration_text(out, h->first * h->step);
	out_printf(out, "</text><text class=\"n\" x=\"%u\" y=\"%u\">", x + width, y + 14);
	out_duration_text(out, (h->last + 1) * h->step);
	out_text(out, "</text>\n");
}

unsigned heat_draw(struct out *out, struct heat *h, unsigned x, unsigned y, unsigned width)
{
	double cell_width = (double)width / (double)(h->last - h->first + 1);
	uint32_t low = HEAT_ROWS - 1, high = 0;
	uint64_t most = 0;

	qsort(h->cells, h->n, sizeof(*h->cells), by_place);
	for (size_t i = 0; i < h->n; i++) {
		low = min_u64(low, h->cells[i].row);
		high = max_u64(high, h->cells[i].row);
		most = max_u64(most, h->cells[i].n);
	}
	/* room for the text of a scale at the top */
	high++;
	for (size_t i = 0; i < h->n; i++) {
		const struct heat_cell *c = &h->cells[i];
		/* how hot it is, on a logarithmic scale: a single request must be visible */
		double level = most > 1 ? (double)(bits(c->n) - 1) / (bits(most) - 1) : 1;

		out_printf(out,
			   "<rect class=\"heat\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
			   "fill-opacity=\"%.2f\"><title>",
			   x + (double)(c->x - h->first) * cell_width, y + (high - c->row) * CELL_HEIGHT, cell_width,
			   CELL_HEIGHT, (1 + 7 * level) / 8);
		out_duration_text(out, life_of(c->row));
		out_text(out, " to ");
		out_duration_text(out, life_of(c->row + 1));
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
}
