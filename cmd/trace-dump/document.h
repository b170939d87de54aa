/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what spdk_trace -j printed, entry by entry through a window of the text, so that memory does not
 * grow with it. The stray lines that v21.10 to v24.01 print before and behind the document are skipped.
 */
#ifndef TRACE_DUMP_DOCUMENT_H
#define TRACE_DUMP_DOCUMENT_H

#include "entry.h"
#include "input.h"
#include "json.h"

struct json_trace {
	struct input *in;
	struct trace *trace;
	struct json j;
	bool in_entries, defined; /* tracepoints are all known once the entries begin */
	uint64_t entries;         /* read so far */
	struct slice
		owners; /* the document's table of them, a copy as it stands there; p is NULL without */
	char *text;     /* one entry's decoded strings */
	size_t text_size;
	const char *error; /* NULL, or what is wrong at `position` */
	uint64_t position; /* bytes from the begin of the input */
};

/* Whether the input is text, so that it can only be this. */
bool json_trace_is_text(const struct input *in);

/* Reads up to the first entry; fills t, for trace_close() to free. Returns 0, or -1 with x->error. */
int json_trace_open(struct json_trace *x, struct trace *t, struct input *in);

/* Reads the next entry; its slices are valid until the next call. False at the end, or with x->error. */
bool json_trace_next(struct json_trace *x, struct entry *e);

void json_trace_close(struct json_trace *x);

#endif
