/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws a trace: its spans, each with a slice for each state, on the rows of their connections, with arrows and
 * counters; and the lines that are not states of a span, on the tracks of their lcores. A span is drawn when it has
 * ended (spans.h).
 */
#ifndef DRAW_H
#define DRAW_H

#include "each_traceline.h"
#include "request_io.h"
#include "spans.h"
#include "tracks.h"
#include "writer.h"

/* All zero, except what is set before draw_file(). */
struct draw {
	struct writer writer;    /* of the format; to be set */
	bool entries;            /* draw all on the tracks of their lcores, also those of objects */
	bool quiet;              /* no notes about the trace */
	struct joining *joining; /* names objects; or NULL */

	struct intern types, states;
	struct spans spans;
	struct tracks tracks;
	struct request_io io;
	struct out text;        /* a name, or a value */
	bool is_state, is_held; /* what the line is: the entry of a span, or a time in which a reactor did not run */
	uint64_t arrow;         /* one that ends at the line, or 0 */
	unsigned idle_ticks;    /* since the last line */
};

enum { DRAW_NOTES = 5 };

/* What a tool prints of a file that was drawn. */
struct draw_result {
	const char *name;  /* of the file, for messages */
	const char *error; /* what is wrong with the whole file; NULL: nothing */
	/* what was left out, and how often */
	struct draw_note {
		uint64_t n;
		const char *what;
	} notes[DRAW_NOTES];
};

/*
 * Draws the lines of a file. reader: the command, for messages; out: of the format's output, after whose failure
 * nothing more is drawn. Returns 0; -1 after messages about lines (lines.h), or if result->error is set.
 */
int draw_file(struct draw *d, const char *path, const char *reader, struct out *out, struct draw_result *result);

void draw_free(struct draw *d);

#endif
