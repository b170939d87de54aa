/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop over a file of trace lines, shared by all tools that read them. */
#ifndef EACH_TRACELINE_H
#define EACH_TRACELINE_H

#include "interactive.h"
#include "lines.h"
#include "traceline.h"

struct each_traceline {
	struct lines lines; /* name and number are valid after each_traceline_run() as well */
	struct out *out;    /* of the results: reading ends after an error there */
	struct interactive interactive;

	/* may be set before each_traceline_run(), with the same context as there */

	/* reads the next line instead of lines_next(), and flushes the output before it waits */
	int (*next)(void *context, struct lines *lines, struct slice *text);

	/* called every INTERACTIVE_TICK_MS without input, unless NULL */
	void (*pause)(void *context);

	/*
	 * The text of a line is what was read. Else it has each character in the form of json_quote(), so that equal
	 * names have equal bytes.
	 */
	bool keep_bytes;

	/* gets each line that is not a trace line; NULL: they are left out */
	void (*pass_on)(void *context, struct slice text);
};

/* Returns -1 with errno. reader: the command that reads trace lines from a pipe, for messages. */
int each_traceline_open(struct each_traceline *t, const char *path, const char *reader, struct out *out);

/* Gets a line, parsed and as text, both valid during the call. Returns NULL, or what is wrong with it. */
typedef const char *each_traceline_fn(void *context, struct traceline *line, struct slice text);

/* Calls each() for every trace line, and closes the file. Returns 0, or -1 after a message. */
int each_traceline_run(struct each_traceline *t, each_traceline_fn *each, void *context);

#endif
