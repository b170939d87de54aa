/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says of each TCP connection of a target at one moment: how much of its time the network took. */
#pragma once

#include <sys/types.h>

#include "out.h"

enum { CONNECTIONS_MAX = 4096, CONNECTIONS_MAX_SIZE = 2 << 20 }; /* lines, bytes of them */

/*
 * Writes a line for each connection that a process holds open, as spdk-trace-lines(7) describes. when: "start" or
 * "end". The caller is left in the network namespace of the process, where those are: a child. Returns NULL, or why
 * there are none, such as that they cannot be listed.
 */
const char *connections_write(struct out *out, pid_t pid, const char *when);
