/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * The process that a tool records, and its descendants from then on. User space runs find_first
 * once, by recorder_run_iterator(), after the programs on forks and exits are attached.
 *
 * From Linux 7.0 on the kernel may skip programs: see copies.bpf.h. It never skips on_fork, since interrupts are off at
 * sched_wakeup_new. If it skips all copies of on_exit, user space notices.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "copies.bpf.h"
#include "process.bpf.h"

enum { MAX_FOLLOWED = 16384 };

const volatile __u32 first_process; /* its id in the namespace pid_ns */

__u32 num_not_followed; /* forks for which there was no room */

/*
 * The ids of the followed processes in the namespace pid_ns, by their ids in the kernel's first one. A
 * process that is not followed costs one lookup.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FOLLOWED);
	__type(key, __u32);
	__type(value, __u32);
} followed SEC(".maps");

/* The current process's id in the namespace pid_ns; 0 when it is not followed. */
static __u32 followed_id(void)
{
	__u32 key = bpf_get_current_pid_tgid() >> 32;
	__u32 *id = bpf_map_lookup_elem(&followed, &key);

	return id ? *id : 0;
}

static __always_inline void follow(struct task_struct *task, __u32 id)
{
	__u32 key = task->tgid;
	long error = bpf_map_update_elem(&followed, &key, &id, BPF_NOEXIST);

	if (error && error != -EEXIST)
		__sync_fetch_and_add(&num_not_followed, 1);
}

/* Stops following a process when its last thread has ended: the id may be reused. */
static __always_inline void forget_if_dead(struct task_struct *task)
{
	__u32 key = task->tgid;

	if (BPF_CORE_READ(task, signal, live.counter) <= 0)
		bpf_map_delete_elem(&followed, &key);
}

/* Called with every thread, also of zombies. */
SEC("iter/task")
int find_first(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 key;

	if (!task || process_id(task) != first_process)
		return 0;
	key = task->tgid;
	if (!bpf_map_lookup_elem(&followed, &key))
		follow(task, first_process);
	forget_if_dead(task);
	return 0;
}

/*
 * Follows the children of followed processes. A new thread has the id of its process, which is followed already. This
 * runs in the parent, before the child does.
 */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_fork, struct task_struct *child)
{
	__u32 key = bpf_get_current_pid_tgid() >> 32;

	if ((__u32)child->tgid != key && bpf_map_lookup_elem(&followed, &key))
		follow(child, process_id(child));
	return 0;
}

static __always_inline int run_on_exit(__u64 *ctx, __u32 copy)
{
	forget_if_dead((void *)ctx[0]);
	return 0;
}

PROGRAM_WITH_COPIES("tp_btf/sched_process_exit", on_exit)
