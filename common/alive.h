/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that a user has named: whether they are there, and when the last one has ended. */
#ifndef ALIVE_H
#define ALIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ALIVE_MAX = 16 };

/* All zero is no processes. Its descriptors stay open until the tool ends. */
struct alive {
	int fds[ALIVE_MAX]; /* of each process; -1: it has ended */
	size_t n;
};

/* Adds a process, one of ALIVE_MAX. Returns 0, or -1 having said that there is none, or what is wrong. */
int alive_add(struct alive *a, pid_t pid);

/* Whether there were processes and all of them have ended. Costs a system call for each that has not. */
bool alive_none(struct alive *a);

#endif
