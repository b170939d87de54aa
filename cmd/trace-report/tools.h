/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts other tools, with pipes between them and files in memory for what they print. All descriptors are closed on
 * exec, except those that a tool is given.
 */
#ifndef TRACE_REPORT_TOOLS_H
#define TRACE_REPORT_TOOLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "slice.h"

enum {
	TOOLS_MAX = 16,
	TOOLS_KEEP = 3, /* the number of tools_io.keep in the tool */
};

#define TOOLS_KEPT "/dev/fd/3"

/* All zero at first. */
struct tools {
	struct tool {
		const char *name;
		pid_t pid;
		int notes; /* the file with its messages; -1: they are on standard error */
		bool failed;
	} all[TOOLS_MAX];
	size_t n;
};

/* A tool's standard streams, and one more descriptor. -1: /dev/null for in, and no other one. */
struct tools_io {
	int in, out, keep;
	bool quiet; /* its messages are printed only if it fails, and by tools_complain() */
};

/*
 * Starts a tool: that beside this one, or else in PATH. in and keep are closed here. Complains if it cannot be
 * started; then it has failed.
 */
void tools_start(struct tools *t, const char *const *argv, struct tools_io io);

/* Waits until all have ended. Returns whether none has failed. */
bool tools_wait(struct tools *t);

/* Prints the messages of those that failed. */
void tools_complain(const struct tools *t);

/* A pipe's ends for reading and writing, and a file in memory. They exit with a message where there are no more. */
void tools_pipe(int *from, int *to);
int tools_file(void);

/* What is in such a file, when those who write it have ended; until this process ends. Closes it. */
struct slice tools_contents(int file);

/* Copies all that comes from one pipe to several, in a thread. A pipe without a reader is left out. */
struct tee {
	int from, to[TOOLS_MAX];
	size_t n;
	pthread_t thread;
};

void tee_start(struct tee *t);
void tee_wait(struct tee *t);

#endif
