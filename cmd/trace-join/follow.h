/* SPDX-License-Identifier: BSD-3-Clause */
/* Lifetime lines that come while trace lines are joined: of pipes, and of files that grow. */
#ifndef TRACE_JOIN_FOLLOW_H
#define TRACE_JOIN_FOLLOW_H

#include "lifetimes.h"
#include "lines.h"

struct out;

struct follow {
	struct lifetimes *lifetimes;
	struct follow_input {
		struct lines lines;
		bool closed;
	} * inputs;
	unsigned n;
	struct pollfd *fds;
	bool failed; /* something was wrong with one of them, which was said */
};

/* A file that cannot be opened, and a lack of memory, end the tool. */
void follow_open(struct follow *f, struct lifetimes *lifetimes, const char *const *paths,
		 unsigned n);

/*
 * Returns as lines_next() does. Before lines that have just been read are handed out, the lifetimes that have come are
 * taken in. Also while it waits, for which it flushes the output; when nobody reads that any more, that is its error.
 */
int follow_next(struct follow *f, struct lines *trace, struct out *out, struct slice *line);

/* Returns 0, or -1 when something was wrong with a file. */
int follow_close(struct follow *f);

#endif
