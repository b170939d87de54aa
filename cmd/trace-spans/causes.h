/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a trace proves about the waits of its spans: an lcore that wrote nothing, buffers that others had, writes that
 * were queued before, other PDUs of the connection.
 */
#ifndef TRACE_SPANS_CAUSES_H
#define TRACE_SPANS_CAUSES_H

#include "spans.h"

/* All zero but for these, it has seen no lines. */
struct causes {
	struct spans *spans; /* set before the first line */
	int indent;          /* columns before what is printed */

	struct map lcores;
	struct causes_lcore {
		uint64_t last, silence; /* ns: its latest entry, and the time before that */
	} * last;                       /* by lcore */
	size_t num_lcores, cap_lcores;
	struct map connections;
	struct causes_connection {
		uint64_t pdus;      /* received */
		uint64_t queued;    /* writes in the queue of its socket */
		uint64_t holders;   /* requests that have a buffer */
		struct slice label; /* of the first request */
	} * all;
	size_t num_connections, cap_connections;
	uint64_t waiting, holders; /* requests that wait for a buffer, and that have one */
	uint32_t most;             /* the connection with the most of these */
	size_t visits;             /* of connections that were saved since the last search for it */
	struct out text;
};

/* Sees each line before spans_line() does. */
void causes_see(struct causes *c, const struct traceline *line, uint64_t ns);

/* An entry of a span, which was in a state before: MAP_NONE at first. Sets what *kept has of causes. */
void causes_keep(struct causes *c, struct span *s, uint32_t before, const struct traceline *line,
		 struct span_line *kept);

/* A span ends in the state that it is in. */
void causes_end(struct causes *c, const struct span *s);

/* Prints what is known of the wait of `gap` ns that the span's state n ended, on this lcore: a line for each cause. */
void causes_write(const struct causes *c, struct out *out, const struct span *s, size_t n, struct slice lcore,
		  uint64_t gap);

void causes_free(struct causes *c);

#endif
