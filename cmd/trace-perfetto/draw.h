/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws spans, and the entries that are not states of a span. */
#ifndef TRACE_PERFETTO_DRAW_H
#define TRACE_PERFETTO_DRAW_H

#include "lift.h"
#include "spans.h"
#include "tracks.h"

struct draw {
	struct spans *spans; /* set before the first call, as are tracks.packets and packets.out */
	struct packets packets;
	struct tracks tracks;
	struct lift lift;
	struct out text; /* a name, or a value */
};

/* Stores the parts of an entry that are drawn; for spans.entry. */
void draw_entry(struct draw *d, struct span *s, uint32_t before, const struct traceline *line);

/* Draws a span that has ended. */
void draw_span(struct draw *d, const struct span *s);

/* Draws an interval in which a reactor did not run; for spans.held. */
void draw_held(struct draw *d, const struct reactor *reactor, const struct reactors_interval *interval,
	       const struct traceline *line);

/*
 * Draws any other line, on the track of its lcore, or of its thread if that is no reactor of the trace. Returns NULL,
 * or what is wrong with the line.
 */
const char *draw_line(struct draw *d, const struct traceline *line, uint64_t ns);

void draw_free(struct draw *d);

#endif
