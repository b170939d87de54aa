/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* What the scheduler knows of a task. */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "kernel.h"

enum {
	KERNEL_THREAD = 0x00200000, /* PF_KTHREAD */
	STATE_DEAD = 0x80,          /* TASK_DEAD */
	MAX_RT_PRIO = 100,          /* quotas do not apply to priorities below this one */
};

/* 0: it is runnable; else bits of the kernel's TASK_... constants. */
static __u32 task_state(struct task_struct *task)
{
	return bpf_core_field_exists(task->__state) ? BPF_CORE_READ(task, __state)
						    : BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

/* Whether a runnable task may not run, since its cgroup, or one above it, has used up its CPU quota. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled))
		return BPF_CORE_READ(task, throttled);
	return bpf_core_field_exists(task->se.cfs_rq) && bpf_core_field_exists(struct cfs_rq, throttle_count) &&
	       BPF_CORE_READ(task, prio) >= MAX_RT_PRIO && BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
}
