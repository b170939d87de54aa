/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop over trace lines that all tools share: those in a file, or those of a trace file's entries, for which no
 * text is made unless it is wanted. Files that xz or gzip compressed are unpacked by these programs.
 */
#pragma once

#include "lines.h"
#include "out.h"
#include "progress.h"
#include "traceline.h"
#include "unpack.h"

struct each_traceline_entries;
struct joining;
struct reader;
struct us;

struct each_traceline {
	struct lines lines; /* name and number, of lines or entries, are valid after each_traceline_run() as well */
	struct out *out;    /* of the results: reading ends after an error there */
	struct interactive interactive;

	/* may be set before the first line: */

	void *context; /* argument of the functions below; each_traceline_run() sets it */

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

	/* no notes about a trace, reader.h, or about names */
	bool quiet;

	/* name objects in lines, as trace-join -j does, if there are files: then span lines are refused; NULL: none */
	struct joining *joining;

	/* gets each line of a file of span lines, which is refused if this is NULL */
	lines_callback *span_line;

	/* gets each line that is not a trace line; NULL: they are left out */
	void (*pass_on)(void *context, struct slice text);

	/*
	 * Gets a trace with its first entry, or without any, and when all of them are read; NULL: nothing to do. rate:
	 * of its ticks. It may set ticks of time 0 before those of the first entry.
	 */
	void (*begin)(void *context, struct reader *r, const struct us *rate, uint64_t *base);
	void (*end)(void *context, struct reader *r, const struct us *rate);

	struct traceline line; /* that was returned last */

	/* each_traceline.c's: */
	bool has_started, is_repaired;
	int error;
	struct slice read; /* the line before it was repaired */
	struct out utf8, plain;
	struct unpack unpack;
	struct each_traceline_entries *entries; /* NULL: it is text */
};

/* Returns -1 with errno. reader: the command that reads trace lines from a pipe, for messages. */
int each_traceline_open(struct each_traceline *t, const char *path, const char *reader, struct out *out);

/* The same for a file that is open; the path is for messages. */
int each_traceline_open_fd(struct each_traceline *t, int fd, const char *path, const char *reader, struct out *out);

/*
 * Reads the next line into t->line, and its text, both valid until the next call. False at the end. Lines that are
 * malformed are left out after a message.
 */
bool each_traceline_next(struct each_traceline *t, struct slice *text);

/* Prints what is wrong with the line that was returned last: it is left out. */
void each_traceline_complain(struct each_traceline *t, const char *error);

/*
 * Closes the file. Returns 0, or -1 after a message: some lines or lifetimes are malformed, the trace is damaged, or
 * nothing is named.
 */
int each_traceline_close(struct each_traceline *t);

/* Gets a line, parsed and as text, both valid during the call. Returns NULL, or what is wrong with it. */
typedef const char *each_traceline_fn(void *context, struct traceline *line, struct slice text);

/* Calls each() for every line, and closes. */
int each_traceline_run(struct each_traceline *t, each_traceline_fn *each, void *context);
