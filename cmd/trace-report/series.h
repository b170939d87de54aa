/* SPDX-License-Identifier: BSD-3-Clause */
/* What pictures show over time, counted while span lines pass. */
#ifndef TRACE_REPORT_SERIES_H
#define TRACE_REPORT_SERIES_H

#include <stdint.h>

#include "heat.h"
#include "map.h"
#include "spanline.h"

enum {
	SERIES_STEPS = 72,    /* of time, in a trace */
	SERIES_MAX = 1 << 16, /* times when there were buffers; more are left out: a trace has a few thousand */
};

struct series {
	double step; /* microseconds; 0: nothing is counted */

	struct heat heat; /* map 0: all requests; its step is that of the series */

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

/* Sees a request that started at `us` and lived for `life` microseconds; and the waits of a span. */
void series_request(struct series *s, double us, double life);
void series_waits(struct series *s, const struct spanline *span);

void series_free(struct series *s);

#endif
