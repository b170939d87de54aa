/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what spdk_trace -j printed, entry by entry through a window of the text, so that memory
 * does not grow with it. The stray lines that v21.10 to v24.01 print before and after the document
 * are skipped.
 */
#pragma once

#include "entry.h"
#include "json.h"
#include "out.h"

struct input;

struct document {
	struct input *in;
	struct trace *trace;
	struct json j;
	bool in_entries, defined; /* tracepoints are all known once the entries start */
	uint64_t entries;         /* read so far */
	char *owners;             /* the document's object of owners, as text; NULL: none */
	const char *error;        /* NULL, or what is wrong at `position` */
	uint64_t position;        /* bytes from the start of the input */

	/* one entry's decoded strings */
	struct out plain_owner, owner, strings[TRACE_ARGS];
};

/* Whether the input is text: a trace file is not. */
bool document_is_text(const struct input *in);

/*
 * Reads up to the first entry, and fills t, which trace_close() frees. Returns 0, or -1 with d->error.
 */
int document_open(struct document *d, struct trace *t, struct input *in);

/*
 * Reads the next entry; its slices are valid until the next call. False at the end, or with
 * d->error.
 */
bool document_next(struct document *d, struct entry *e);

void document_close(struct document *d);
