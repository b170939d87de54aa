/* SPDX-License-Identifier: BSD-3-Clause */
/* What pictures show over time, counted while spans end. */
#pragma once

#include <stdint.h>

#include "heat.h"
#include "map.h"
#include "shares.h"
#include "spanline.h"

enum {
	SERIES_STEPS = 72,    /* of time, in a trace */
	SERIES_MAX = 1 << 16, /* times when there were buffers; more are left out: a trace has a few thousand */
};

struct series {
	double step;     /* microseconds; 0: nothing is counted */
	uint64_t length; /* the same in ns */

	struct heat heat; /* of all requests; its step is that of the series */

	/* the requests that ended in each step; in the order in which the first one did */
	struct series_step {
		struct interval interval;
		struct shares shares;
	} * steps;
	size_t num_steps, cap_steps;
	struct map steps_map;

	/* how many had a data buffer when one got its own after a wait: the most of each step */
	struct series_buffers {
		uint32_t x;
		double all, most;    /* requests; those of one connection */
		struct slice holder; /* which, as written in JSON */
	} * buffers;
	size_t num_buffers, cap_buffers;
	struct map buffers_map;
};

/* Sets the length of a step in microseconds. */
void series_start(struct series *s, double step);

/* Sees a request that is whole; the start and life in ns of one that ended in the trace; and the waits of any. */
void series_request(struct series *s, const struct span *span, struct rows_name name, const struct spanline *line);
void series_heat(struct series *s, uint64_t start, uint64_t life);
void series_waits(struct series *s, const struct spanline *span);

void series_free(struct series *s);
