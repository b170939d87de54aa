/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat maps: how many requests ended in each stretch of time, by their life. Several maps share the stretches. However
 * far apart times are, a map has at most HEAT_STEPS of them: they become longer.
 */
#ifndef HEAT_H
#define HEAT_H

#include "map.h"
#include "out.h"

enum {
	HEAT_STEPS = 1024,
	HEAT_ROWS = 128, /* of lives: two for each power of two, which is divided in the middle as for histograms */
};

/* All zero is empty. */
struct heat {
	uint64_t step;        /* ns; set at first, maybe to 1; it only becomes a multiple of that */
	uint64_t first, last; /* times, in steps */
	struct map map;       /* until heat_end() */
	struct heat_cell {
		uint64_t x; /* its time, in steps */
		uint64_t n; /* requests */
		uint32_t map;
		uint32_t row;
	} * cells;
	size_t n, cap;
	uint64_t most; /* requests in a cell, after heat_end() */
};

/* Counts a request of a map that ended at a time in ns. */
void heat_add(struct heat *h, uint32_t map, uint64_t ns, uint64_t life);

/* Lengthens the steps until there are at most this many columns. Sorts the cells by map, time and row. */
void heat_end(struct heat *h, uint64_t columns);

/* The cells of a map after that; n: their number. */
const struct heat_cell *heat_cells(const struct heat *h, uint32_t map, size_t *n);

/* The first and the last row of cells; n is not 0. */
void heat_rows(const struct heat_cell *cells, size_t n, uint32_t *low, uint32_t *high);

/* The shortest life of a row, in ns; UINT64_MAX for HEAT_ROWS. */
uint64_t heat_life(uint32_t row);

/* Nanoseconds of a time in steps. */
uint64_t heat_time(const struct heat *h, uint64_t x);

/* How hot a cell is, on a logarithmic scale: from 0 for one request to 1 for the most in a cell. */
double heat_level(const struct heat *h, uint64_t n);

/* The same for pictures, where a single request must be visible. */
static inline double heat_opacity(const struct heat *h, uint64_t n)
{
	return (1 + 7 * heat_level(h, n)) / 8;
}

/*
 * Draws the cells of a map into an SVG picture, with their scale to the left of x, and an axis below. Returns the
 * height in pixels. Its classes are heat, axis, and n for text that ends where it is placed.
 */
unsigned heat_draw(struct out *out, const struct heat *h, uint32_t map, unsigned x, unsigned y, unsigned width);

void heat_free(struct heat *h);

#endif
