/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the process to record: one that has mapped an SPDK trace. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct target_process {
	pid_t pid;
	char name[256]; /* of its executable, printable */
	uint32_t user;  /* its number, where several were found */
	char *trace;    /* path of its trace, printable; NULL: it has none, or may not be looked at */
	int pidfd;      /* the caller's */
};

/*
 * Finds the process with this id, or, if it is 0, the only one with a trace, or the only one of root or of the caller
 * with one. Exits after a message if there is none, and with EXIT_USAGE after a list if there are several.
 */
void target_find(struct target_process *found, pid_t pid);

/*
 * Lets this process, and those that it starts, run only on CPUs to which no thread of the target is bound, and with a
 * higher priority there: a part that has to wait for others of the machine loses entries. Does nothing if there are no
 * such CPUs, or it is not permitted.
 */
void target_leave_cpus(pid_t target);
