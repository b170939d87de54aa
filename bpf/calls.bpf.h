/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* The system call that a task is in. */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "calls.h"
#include "machine.bpf.h"

/* The index of a system call, below NUM_CALLS. */
static __u32 place_of(struct task_struct *task, __u64 number)
{
	__u32 call = number < OTHER_NUMBER ? number : OTHER_NUMBER;

	if (is_compat(task))
		call += NUMBERS;
	/* otherwise the verifier of 6.1 loses the bounds in the compiler's code */
	barrier_var(call);
	return call < NUM_CALLS ? call : OTHER_NUMBER;
}
