/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says of each thread of a target at one moment: whether it runs, and what it is in if it does not. */
#pragma once

#include <sys/types.h>

#include "out.h"

enum { THREADS_MAX_SIZE = 1 << 20 }; /* bytes of lines */

/*
 * Writes a line for each thread, as spdk-trace-lines(7) describes; what cannot be read is left out. when: "start" or
 * "end". It reads the target's memory, which may never return: only a child that can be killed calls it.
 */
void threads_write(struct out *out, pid_t pid, const char *when);
