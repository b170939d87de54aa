/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains the waits of spans as far as the trace proves a cause: an lcore that wrote nothing, buffers that others
 * held, writes that were queued earlier, other PDUs of the connection.
 */
#ifndef TRACE_SPANS_CAUSES_H
#define TRACE_SPANS_CAUSES_H

#include "connection.h"
#include "spans.h"

/* The area of each span: span.tool. */
struct causes_span {
	bool has_buffer;
	/* by state */
	struct causes_entry {
		uint64_t sequence; /* as spans.lines */
		uint64_t lcore;
		uint64_t silence; /* ns since the previous entry of its lcore */
		uint64_t others;  /* requests that waited for a buffer, or were queued, when it started to */
		uint64_t pdus;    /* that its connection had received */
		/* when it got a buffer after a wait: requests with one, and those of the connection with most */
		uint64_t holders, held;
		uint32_t holder;
		size_t at; /* for story.c: in span.kept */
	} * entries;
	size_t n, cap;
};

static inline struct causes_span *causes_of(const struct span *s)
{
	return s->tool;
}

/* All zero at first, except for these. */
struct causes {
	struct spans *spans;
	struct connections *connections; /* of the spans */
	int indent;                      /* columns before each line */

	struct map lcores;
	struct causes_lcore {
		uint64_t last, silence; /* ns: time of its latest entry, and the gap before it */
	} * last;                       /* by lcore */
	size_t num_lcores, cap_lcores;
	struct causes_connection {
		uint64_t pdus;    /* received */
		uint64_t queued;  /* writes in the queue of its socket */
		uint64_t holders; /* requests that hold a buffer */
	} * counts;               /* by connection */
	size_t num_counts, cap_counts;
	uint64_t waiting, holders; /* requests that wait for a buffer, and that hold one */
	uint32_t most;             /* the connection with the most holders */
	size_t visits;             /* credit for the next search for it, see VISITS */
};

/* To be called for each line, before spans_line(). */
void causes_see(struct causes *c, const struct traceline *line, uint64_t ns);

/*
 * Counts an entry of a span, whose connection is set. before: the state that it left, MAP_NONE for the first entry.
 * Sets the members of *entry that causes_write() reads.
 */
void causes_store(struct causes *c, struct span *s, uint32_t before, const struct traceline *line,
		  struct causes_entry *entry);

/* Counts the end of a span, in its latest state. */
void causes_end(struct causes *c, const struct span *s);

/*
 * Prints a line for each known cause of the gap, in ns, before the span's state n, which it entered on this lcore. If n
 * is the number of its states: after the last one, on the lcore of that.
 */
void causes_write(const struct causes *c, struct out *out, const struct span *s, size_t n, struct slice lcore,
		  uint64_t gap);

void causes_free(struct causes *c);

#endif
