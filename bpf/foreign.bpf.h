/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Other users' processes. CAP_BPF and CAP_PERFMON let a program run in every process; without
 * CAP_SYS_PTRACE its user sees only those processes that ptrace(2) would let that user attach to.
 */
#ifndef FOREIGN_BPF_H
#define FOREIGN_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "kernel.h"

enum {
	MMF_DUMPABLE = 3,     /* the bits of mm_struct.flags; see the kernel's linux/sched/coredump.h */
	DUMPABLE_BY_USER = 1, /* the same in enum task_dumpable */
};

const volatile bool only_own;
const volatile __u32 own_uid, own_gid;
const volatile __u64 own_capabilities;
/*
 * The offset of task_exec_state.dumpable; 0 if the kernel has no such type. User space finds it out, since libbpf needs
 * CAP_SYS_ADMIN to search for a type that does not exist.
 */
const volatile __u32 dumpable_offset;

__u32 num_foreign; /* events that were dropped */

static bool is_user(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);

	return BPF_CORE_READ(cred, uid.val) == own_uid && BPF_CORE_READ(cred, euid.val) == own_uid &&
	       BPF_CORE_READ(cred, suid.val) == own_uid && BPF_CORE_READ(cred, gid.val) == own_gid &&
	       BPF_CORE_READ(cred, egid.val) == own_gid && BPF_CORE_READ(cred, sgid.val) == own_gid;
}

/* Root with fewer capabilities, in a container for instance, must not see a process that has more. */
static bool has_no_more(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);
	__u64 capabilities = 0;

	/* two words of 32 bits before 6.3 */
	bpf_probe_read_kernel(&capabilities, sizeof(capabilities),
			      (const void *)cred + bpf_core_field_offset(cred->cap_permitted));
	return !(capabilities & ~own_capabilities);
}

/* False if the process has gained privileges by its file, or has called prctl(PR_SET_DUMPABLE, 0). */
static bool is_dumpable(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mm_struct___6_18 *newer = (void *)mm;
	unsigned long flags;
	__u32 dumpable = 0;

	if (bpf_core_field_exists(task->exec_state)) {
		const void *state = BPF_CORE_READ(task, exec_state);

		if (dumpable_offset)
			bpf_probe_read_kernel(&dumpable, sizeof(dumpable), state + dumpable_offset);
		return dumpable == DUMPABLE_BY_USER;
	}
	if (bpf_core_field_exists(newer->flags.__mm_flags))
		flags = BPF_CORE_READ(newer, flags.__mm_flags[0]);
	else
		flags = BPF_CORE_READ(mm, flags);
	return (flags & MMF_DUMPABLE) == DUMPABLE_BY_USER;
}

/* Whether the task's events are dropped; counts one. */
static bool is_foreign(struct task_struct *task)
{
	if (!only_own || (is_user(task) && has_no_more(task) && is_dumpable(task)))
		return false;
	__sync_fetch_and_add(&num_foreign, 1);
	return true;
}

#endif
