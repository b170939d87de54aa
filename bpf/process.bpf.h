/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Process ids as the user of the tool sees them. */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"
#include "loop.bpf.h"

enum { MAX_PID_NS_LEVEL = 32 };

const volatile __u32 pid_ns; /* inode of the PID namespace of all process ids */

static __u32 id_in_namespace(struct pid *pid)
{
	__u32 level = BPF_CORE_READ(pid, level);

	for (__u32 i = 0; i <= MAX_PID_NS_LEVEL && is_below(i, level + 1); i++) {
		struct upid *upid = (void *)pid + bpf_core_field_offset(pid->numbers) +
				    i * bpf_core_type_size(struct upid);

		if (BPF_CORE_READ(upid, ns, ns.inum) == pid_ns)
			return BPF_CORE_READ(upid, nr);
	}
	return 0;
}

/* The task's process id in the namespace pid_ns; 0: it has none. */
static inline __u32 process_id(struct task_struct *task)
{
	return id_in_namespace(BPF_CORE_READ(task, group_leader, thread_pid));
}

/* Its thread id there. */
static inline __u32 thread_id(struct task_struct *task)
{
	return id_in_namespace(BPF_CORE_READ(task, thread_pid));
}
