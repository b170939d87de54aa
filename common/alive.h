/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that a user has named: whether they are there, and when the last one has ended. */
#ifndef ALIVE_H
#define ALIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All zero is no processes. */
struct alive {
	int *fds; /* of each process; -1: it has ended */
	size_t n;
};

/* Adds a process. Returns 0, or -1 having said that there is none, or what is wrong. */
int alive_add(struct alive *a, pid_t pid);

/* Whether there were processes and all of them have ended. Costs a system call for each that has not. */
bool alive_none(struct alive *a);

void alive_free(struct alive *a);

#endif
