/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heat map: how many requests ended in each stretch of time, by their life. However far apart times are, it has at
 * most HEAT_STEPS of them: they become longer.
 */
#pragma once

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
	struct map map;
	struct heat_cell {
		uint64_t x; /* its time, in steps */
		uint64_t n; /* requests */
		uint32_t row;
	} * cells;
	size_t n, cap;
};

/* Counts a request that ended at a time in ns. */
void heat_add(struct heat *h, uint64_t ns, uint64_t life);

/*
 * Draws it into an SVG picture, after the last request, with a scale to the left of x, and an axis below. It is not
 * empty. Returns the height in pixels. Its classes are heat, axis, and n for text that ends where it is placed.
 */
unsigned heat_draw(struct out *out, struct heat *h, unsigned x, unsigned y, unsigned width);

void heat_free(struct heat *h);
