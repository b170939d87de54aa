/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel says of a target at one moment, as lines that spdk-trace-lines(7) describes. when: "start" or "end".
 */
#pragma once

#include <sys/types.h>

#include "out.h"

enum {
	THREADS_MAX_SIZE = 1 << 20, /* bytes of lines */
	CONNECTIONS_MAX = 4096,     /* lines */
	CONNECTIONS_MAX_SIZE = 2 << 20,
};

/*
 * Of each thread: whether it runs, and what it is in if it does not; what cannot be read is left out. It reads the
 * target's memory, which may never return: only a child that can be killed calls it.
 */
void threads_write(struct out *out, pid_t pid, const char *when);

/* Of each CPU quota: that of its control group, and those of the groups above it. */
void quota_write(struct out *out, pid_t pid, const char *when);

/*
 * Of each TCP connection that it holds open: how much of its time the network took. The caller is left in the network
 * namespace of the process, where those are: a child. Returns NULL, or why there are none, such as that they cannot be
 * listed.
 */
const char *connections_write(struct out *out, pid_t pid, const char *when);
