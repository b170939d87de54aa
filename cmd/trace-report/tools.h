/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts other tools, with pipes between them and files in memory for what they print. All descriptors are closed on
 * exec.
 */
#ifndef TRACE_REPORT_TOOLS_H
#define TRACE_REPORT_TOOLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "child.h"
#include "out.h"
#include "slice.h"

enum { TOOLS_MAX = 16 };

/* All zero at first. */
struct tools {
	struct tool {
		const char *name;
		struct child child;
		int notes; /* the file with its messages; -1: they are on standard error */
		bool failed;
	} all[TOOLS_MAX];
	size_t n;
};

/* A tool's standard streams. in: -1 is /dev/null. */
struct tools_io {
	int in, out;
	bool quiet; /* its messages are printed only if it fails, and by tools_complain() */
};

/*
 * Starts a tool, as child.h finds it. `in` is closed here. Complains if it cannot be started; then it has failed.
 */
void tools_start(struct tools *t, const char *const *argv, struct tools_io io);

/* Waits until all have ended. Returns whether none has failed. */
bool tools_wait(struct tools *t);

/* Whether one of this name has failed. */
bool tools_failed(const struct tools *t, const char *name);

/* Prints the messages of those that failed. */
void tools_complain(const struct tools *t);

/* A pipe's ends for reading and writing, and a file in memory. They exit with a message where there are no more. */
void tools_pipe(int *from, int *to);
int tools_file(void);

/*
 * What is in such a file, when those who write it have ended; until this process ends. Closes it. Exits with a message
 * if it cannot be read.
 */
struct slice tools_contents(int file);

/* Copies all that comes from one pipe to several, in a thread. A pipe without a reader is left out. */
struct tee {
	int from, to[TOOLS_MAX];
	size_t n;
	int error; /* errno if the pipe could not be read to its end */
	pthread_t thread;
};

void tee_start(struct tee *t);
/* Returns whether all came, else after a message. */
bool tee_wait(struct tee *t);

#endif
