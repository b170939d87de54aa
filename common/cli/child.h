/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs other tools of this toolkit as processes. They end with the tool that starts them, however that ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid;  /* 0: not started, or waited for */
	int pidfd;  /* readable when it has ended; -1: none */
	int status; /* as from wait(2), once it has ended */
};

/* What a child gets. */
struct child_setup {
	int in, out, err;  /* its standard streams; -1: /dev/null */
	int directory;     /* its working directory; -1: that of the tool */
	uint64_t max_file; /* bytes of a file that it writes; 0: as for the tool */
};

/* Whether this program has that tool in it, and runs it if argv[0] is its name; NULL: it is a single tool. */
extern bool (*child_is_inside)(const char *name);

/*
 * The path of a tool of this toolkit: this program if the tool is inside, else in the folder of this one, else in
 * $PATH; some packages put spdk- before its name. NULL if neither has it. The caller frees it.
 */
char *child_tool(const char *name);

/*
 * Starts the program at this path in a session of its own, so that a terminal's Ctrl-C does not reach it. It gets
 * SIGTERM when this process ends. Returns 0, or -1 with errno.
 */
int child_start(struct child *c, const char *path, char *const argv[], const struct child_setup *setup);

/* Whether it has ended; then c->status says how. */
bool child_has_ended(struct child *c);

/* Whether a signal such as SIGSTOP holds it. */
bool child_is_stopped(const struct child *c);

/* Waits until it has ended. */
void child_wait(struct child *c);

/* Sends it a signal, unless it has ended. */
void child_signal(const struct child *c, int number);

/* How it ended, as "exit status 1" or "killed by signal 9 (Killed)". The caller frees it. */
char *child_ending(const struct child *c);
