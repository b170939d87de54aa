/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes entries as trace lines (spdk-trace-lines(7)), or makes what traceline_parse() would read from them.
 *
 * Text that many lines share is formatted once: the names of a tracepoint and of its arguments, an
 * lcore's number and thread name. The rest of a line is digits, formatted eight at a time, directly
 * into the output's buffer.
 */
#pragma once

#include "out.h"
#include "trace.h"
#include "us.h"
#include "wall.h"

struct anchors;
struct entry;
struct traceline;

struct line_writer {
	const struct trace *trace;
	struct out *out;
	struct us us;
	struct anchors *anchors;
	struct wall wall;
	struct line_tpoint {
		struct slice name;
		struct slice args[TRACE_ARGS]; /* the text before each value */
		size_t room;                   /* bytes that all these texts and the values may take */
	} * tpoints;                           /* by id, and lcores by index; each is formatted on first use */
	struct line_lcore {
		struct slice text;
		size_t id_n; /* length of its number */
	} * lcores;
	struct out filled; /* the texts of line_fill() */
};

/*
 * The rate is in ticks per second. Lines have the time of day unless anchors is NULL. The anchors, the trace and out
 * must outlive w.
 */
void line_open(struct line_writer *w, const struct trace *t, uint64_t rate, struct anchors *anchors, struct out *out);

/* Writes one line; time 0 is at the ticks `base`. */
void line_write(struct line_writer *w, const struct entry *e, uint64_t base);

/* Writes one line, and sets l to what traceline_parse() would make of it, at a fraction of the cost. */
void line_write_filled(struct line_writer *w, const struct entry *e, uint64_t base, struct traceline *l);

/*
 * Sets l to what traceline_parse() would make of that line, without writing it: us and object_us are set only if their
 * nanoseconds do not fit. The arguments are as in a line, from the brace before them to args_end. All is valid until
 * the next call. l is all zero before the first one.
 */
void line_fill(struct line_writer *w, const struct entry *e, uint64_t base, struct traceline *l);

void line_close(struct line_writer *w);
