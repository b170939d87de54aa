/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the trace that a process writes, to follow its owners. */
#pragma once

#include <sys/types.h>

#include "tracefile.h"

struct found_trace {
	char *name; /* its path as the process sees it, printable */
	int fd;
	const char *layout;
	struct trace_owner_table owners; /* none up to G3 */
};

/*
 * Finds the trace that the process has mapped, writable and shared, from /dev/shm under a name that
 * SPDK gives it, with the process's id or a shared-memory id. It must be the very file that is
 * mapped, and belong to the process's user or to root. Returns 1, and the caller owns name and
 * descriptor; 0 when there is none so far, or the process cannot be read; -1 after a message when
 * it cannot be used.
 */
int trace_find(struct found_trace *found, pid_t pid);
