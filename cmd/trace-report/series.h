/* SPDX-License-Identifier: BSD-3-Clause */
/* What pictures show over time, counted while span lines pass. */
#ifndef TRACE_REPORT_SERIES_H
#define TRACE_REPORT_SERIES_H

#include <stdint.h>

#include "map.h"
#include "slice.h"

enum {
	SERIES_STEPS = 72, /* of time, in a trace */
	SERIES_OCTAVE = 2, /* rows of a heat map for each doubling of the life */
	SERIES_ROWS = 64,
	SERIES_CELLS = 1 << 16, /* more are left out: a trace has a few thousand */
};

struct series {
	double step; /* microseconds; 0: nothing is counted */

	/* requests by the time of their end and by their life */
	struct series_cell {
		uint32_t x, row; /* time in steps; see series_life() */
		uint64_t n;
	} * cells;
	size_t num_cells, cap_cells;
	struct map map;

	/* how many had a data buffer when one got its own after a wait: the most of each step */
	struct series_buffers {
		uint32_t x;
		double all, most;    /* requests; those of one connection */
		struct slice holder; /* which, as written in JSON */
	} * buffers;
	size_t num_buffers, cap_buffers;
	struct map buffers_map;
};

/* Sees a request that started at `us` and lived for `life` microseconds, and its waits. */
void series_request(struct series *s, double us, double life);
void series_waits(struct series *s, double us, struct slice waits);

/* The shortest life of a row of the heat map. */
double series_life(uint32_t row);

void series_free(struct series *s);

#endif
