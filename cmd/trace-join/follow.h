/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lifetime lines while trace lines are joined: from pipes, and from files that grow. */
#pragma once

#include "lifetimes.h"
#include "lines.h"

struct out;

struct follow_lifetimes {
	struct lifetimes *lifetimes;
	struct follow_input {
		struct lines lines;
		bool closed;
	} * inputs;
	size_t n;
	struct pollfd *fds;
	bool failed; /* something was wrong with a file, after a message */
};

/* A file that cannot be opened ends the tool. */
void follow_open(struct follow_lifetimes *f, struct lifetimes *lifetimes, const char *const *paths, size_t n);

/*
 * As lines_next(). Reads the lifetimes that have come while it waits, and before it returns a line
 * that has just come. Flushes the output before it waits. Sets the output's error when its reader
 * has gone.
 */
int follow_next(struct follow_lifetimes *f, struct lines *trace, struct out *out, struct slice *line);

/* Returns 0, or -1 when something was wrong with a file. */
int follow_close(struct follow_lifetimes *f);
