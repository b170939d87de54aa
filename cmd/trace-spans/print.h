/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans as lines: JSON for tools, described in spdk-trace-lines(7), and columns for people. */
#ifndef TRACE_SPANS_PRINT_H
#define TRACE_SPANS_PRINT_H

#include "holders.h"
#include "connection.h"
#include "held.h"
#include "overlaps.h"
#include "proofs.h"
#include "request_io.h"
#include "self_time.h"
#include "spans.h"
#include "terminal.h"

/* Buffers that are reused for each span. */
struct print {
	const struct spans *spans;
	struct connections *connections; /* of the spans; for text only */
	struct holders *holders;         /* of the spans; NULL: no waits are wanted */
	struct held *held;               /* of the reactors; NULL: no causes are wanted */
	const struct proofs *proofs;     /* ditto */
	struct request_io io;
	struct self_time self;
	struct overlaps overlaps;
	struct proofs_facts facts;
	struct waits waits;
	struct out text, end;     /* for parts of a line */
	struct terminal terminal; /* for text only */
	bool is_title;            /* lines of text stand above stories */
};

/* Measures a span, for print_value(). */
void print_measure(struct print *p, const struct span *s);

/*
 * Sets the value that the first key of a path such as args.qpair.hostnqn has in the span's line, as JSON, valid until
 * the next call, and cuts it off with its dot: the path's p is NULL when nothing is left. Keys of io are also found
 * without "io." before them. False if the span has no such key.
 */
bool print_value(struct print *p, const struct span *s, struct slice *path, struct slice *value);

/* Writes a span line with its newline. */
void print_json(struct print *p, struct out *out, const struct span *s);

/* Whether an entry of the span or of those below it was torn. */
bool print_is_torn(const struct span *s);

/* Columns, as far as the terminal has room for them; open: for print_open(). */
void print_heading(const struct print *p, struct out *out, bool open);

/* Both write to memory. The second one is for a span that is open: its age, and what it waits for. */
void print_text(struct print *p, struct out *out, const struct span *s);
void print_open(struct print *p, struct out *out, const struct span *s);

void print_free(struct print *p);

#endif
