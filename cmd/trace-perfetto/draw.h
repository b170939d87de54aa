/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws a trace: its spans, each with a slice for each state, on the rows of their connections, with arrows and
 * counters; and the lines that are not states of a span, on the tracks of their lcores. A span is drawn when it has
 * ended (spans.h).
 */
#pragma once

#include "packets.h"
#include "request_io.h"
#include "spans.h"
#include "tracks.h"

/* All zero, except what is set before draw_start(). */
struct draw {
	bool entries; /* draw all on the tracks of their lcores, also those of objects */

	struct packets packets;
	struct intern types, states;
	struct spans spans;
	struct tracks tracks;
	struct request_io io;
	struct out text;        /* a name, or a value */
	bool is_state, is_held; /* what the line is: the entry of a span, or a time in which a reactor did not run */
	uint64_t arrow;         /* one that ends at the line, or 0 */
	unsigned idle_ticks;    /* since the last line */
};

void draw_start(struct draw *d, struct out *out);

/* An each_traceline_fn. */
const char *draw_line(void *context, struct traceline *line, struct slice text);

/* No line has come for a tick. After a second, spans in final states end. */
void draw_pause(void *context);

/* After the last line. */
void draw_end(struct draw *d);

void draw_free(struct draw *d);
