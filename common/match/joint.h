/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads all processes again as one timeline, that of the first one, in which requests follow their commands. */
#pragma once

#include "each_traceline.h"
#include "matching.h"

struct joint {
	/* the line that was returned last */
	size_t source;
	struct traceline *line;
	struct slice text;
	int64_t ns; /* since the earliest line */

	/* what trace-match(1) adds, if it creates a request; empty: nothing. {"command":} is around command */
	struct slice related, command;

	size_t left_out; /* processes that no offset ties to the first one */
	bool failed;     /* one of them could not be read to its end, after a message */

	/* joint.c's: */
	const struct matching *m;
	struct joint_source *all;
	struct joint_source *current;
	int64_t origin, latest;
	struct out named;
};

/*
 * Starts with these files, whose lines have not been read: one for each process of m. They and m must outlive j.
 * Those of processes that are left out stay unread.
 */
void joint_start(struct joint *j, const struct matching *m, struct each_traceline *files);

/* The next line, valid until the next call. False at the end. */
bool joint_next(struct joint *j);

/* A time of a process on the timeline. */
int64_t joint_time(const struct joint *j, size_t source, int64_t ns);

/* Closes the files. */
void joint_end(struct joint *j);
