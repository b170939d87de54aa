/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* The threads of a cgroup of version 2. */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "kernel.h"

enum { MAX_CGROUP_LEVELS = 64 }; /* for the verifier */

const volatile __u64 only_cgroup; /* its id; 0: all threads */

/*
 * Whether the cgroup at this address is only_cgroup or below it. Global, so that the verifier knows nothing of the
 * result: that of Linux 6.1 took a static one for always false, and removed what callers do otherwise.
 */
__attribute__((noinline)) bool is_below_cgroup(__u64 address)
{
	struct cgroup *cgroup = (void *)address;

	for (int i = 0; i < MAX_CGROUP_LEVELS && cgroup; i++) {
		if (BPF_CORE_READ(cgroup, kn, id) == only_cgroup)
			return true;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return false;
}

/* Whether the task is in this cgroup or in one below it. The kernel's helpers check the current task only. */
static bool is_in_cgroup(struct task_struct *task)
{
	return !only_cgroup || is_below_cgroup((__u64)BPF_CORE_READ(task, cgroups, dfl_cgrp));
}
