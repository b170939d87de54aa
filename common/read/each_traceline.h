/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop over trace lines that all tools share: those in a file, or those of a trace file's entries, for which no
 * text is made unless it is wanted. Files that xz or gzip compressed are unpacked by these programs.
 */
#ifndef EACH_TRACELINE_H
#define EACH_TRACELINE_H

#include "interactive.h"
#include "lines.h"
#include "traceline.h"

struct joining;

struct each_traceline {
	struct lines lines; /* name and number, of lines or entries, are valid after each_traceline_run() as well */
	struct out *out;    /* of the results: reading ends after an error there */
	struct interactive interactive;

	/* may be set before each_traceline_run(), with the same context as there */

	/* reads the next line instead of lines_next(), and flushes the output before it waits; then only of lines */
	int (*next)(void *context, struct lines *lines, struct slice *text);

	/* called every INTERACTIVE_TICK_MS without input, unless NULL */
	void (*pause)(void *context);

	/* the text of an entry is wanted; else it is empty, and line->us is not set */
	bool wants_text;

	/*
	 * The text of a line is what was read. Else it has each character in the form of json_quote(), so that equal
	 * names have equal bytes.
	 */
	bool keep_bytes;

	/* no notes about a trace, losses.h, or about names */
	bool quiet;

	/* name objects in lines, as trace-join -j does, if there are files: then span lines are refused; NULL: none */
	struct joining *joining;

	/* gets each line of a file of span lines, which is refused if this is NULL */
	lines_callback *span_line;

	/* gets each line that is not a trace line; NULL: they are left out */
	void (*pass_on)(void *context, struct slice text);
};

/* Returns -1 with errno. reader: the command that reads trace lines from a pipe, for messages. */
int each_traceline_open(struct each_traceline *t, const char *path, const char *reader, struct out *out);

/* Gets a line, parsed and as text, both valid during the call. Returns NULL, or what is wrong with it. */
typedef const char *each_traceline_fn(void *context, struct traceline *line, struct slice text);

/*
 * Calls each() for every trace line, and closes the file. Returns 0, or -1 after a message: some lines or lifetimes are
 * malformed, the trace is damaged, or nothing is named.
 */
int each_traceline_run(struct each_traceline *t, each_traceline_fn *each, void *context);

#endif
