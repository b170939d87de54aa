/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* What the scheduler knows of a task. */
#ifndef TASK_BPF_H
#define TASK_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"

enum {
	KERNEL_THREAD = 0x00200000, /* PF_KTHREAD */
	STATE_DEAD = 0x80,          /* TASK_DEAD */
};

/* 0: it is runnable; else bits of the kernel's TASK_... constants. */
static __u32 task_state(struct task_struct *task)
{
	return bpf_core_field_exists(task->__state) ? BPF_CORE_READ(task, __state)
						    : BPF_CORE_READ((struct task_struct___before_5_14 *)task, state);
}

#endif
