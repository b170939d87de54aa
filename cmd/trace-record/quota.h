/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel counts of the CPU quotas of a target: those of its control group, and of the groups above it. */
#pragma once

#include <sys/types.h>

#include "out.h"

/* Writes a line for each group that has a quota, as spdk-trace-lines(7) describes. when: "start" or "end". */
void quota_write(struct out *out, pid_t pid, const char *when);
