/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks a target what it says of itself, and the kernel what it says of the target's threads, each in a child. The first
 * connects with the privileges of the tool, gives them up, and only then reads what the target answers. Answers may
 * take seconds; a child that gets stuck is killed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "child.h"
#include "out.h"

/* All zero: nothing was asked. */
struct ask {
	struct child child;
	int fd;    /* a file in memory, which the child fills */
	int error; /* errno of what keeps it from being asked */
	uint64_t max, since;
};

/* Starts to ask. socket: as of rpc_connect(); at_start, max: as of state_write(). */
void ask_start(struct ask *a, pid_t pid, const char *socket, bool at_start, uint64_t max);

/* The same for the threads and the TCP connections of a process; when: as of threads_write(). */
void ask_kernel(struct ask *a, pid_t pid, const char *when);

/* Whether it has answered, or will not. To be called until then. */
bool ask_is_over(struct ask *a);

/*
 * Ends it, and adds the lines to state. off: gets the names of tracepoint groups that are off, or an empty string,
 * printable; NULL: they are not wanted. Returns NULL, or why not all is known. The caller frees both.
 */
char *ask_end(struct ask *a, struct out *state, char **off);
