/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assembles the spans of a trace, and measures them: where their time was, what they waited for, and who had that. What
 * is measured is a struct spanline, from which trace-spans prints and trace-causes counts.
 */
#pragma once

#include "behind.h"
#include "held.h"
#include "holders.h"
#include "spanfill.h"
#include "spans.h"
#include "unread.h"

struct measured {
	/* these may be set before measured_start() */

	bool explains; /* whom spans waited for */
	void *context; /* for the functions below; NULL: not wanted */
	void (*emit)(void *context, const struct span *span);
	void (*stuck)(void *context, const struct span *span);
	/* gets each entry of a span, with what connections_find() says of it */
	void (*entry)(void *context, struct span *span, uint32_t before, const struct traceline *line,
		      uint32_t connection, size_t named);

	struct intern types, states;
	struct spans spans; /* lines go to spans_line() */
	struct connections connections;
	struct proofs proofs;
	struct held held;
	struct holders holders; /* only if it explains */
	struct unread unread;   /* ditto */
	struct behind behind;   /* ditto */

	/* of the latest span of measured_span() */
	const struct span *span;
	struct waits waits;

	struct spanfill fill;
	unsigned parts; /* of its line, that are filled: bits */
	struct out texts[4], value;
};

/* The rest is all zero. m must stay where it is. */
void measured_start(struct measured *m);

/* After the last line: passes all remaining spans to emit(). */
void measured_end(struct measured *m);

/*
 * How long a span may have waited before it was read, in ns, and what its reactor was off its CPU for, or else whom its
 * lcore worked for; 0: no such time is known.
 */
uint64_t measured_unread(struct measured *m, const struct span *s, struct slice *by, struct slice *of);

/* Chooses a span; what is measured of it is valid until the next call, and while the tree of the span is. */
void measured_span(struct measured *m, const struct span *s);

/* That span as a span line. MEASURED_TEXTS: with the JSON of its children, states and self. */
enum { MEASURED_WAITS = 1, MEASURED_TEXTS = 2 };
const struct spanline *measured_line(struct measured *m, unsigned parts);

/* The value at a path in its span line, as spanline_value() has it, valid until the next call. */
struct slice measured_value(struct measured *m, struct slice path);

/* What could not be assembled, for messages; n may be 0. */
enum { MEASURED_NOTES = 9 };
struct measured_note {
	uint64_t n;
	const char *what;
};
void measured_notes(const struct measured *m, struct measured_note notes[MEASURED_NOTES]);

void measured_free(struct measured *m);
