// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0
/*
 * offwaketime's program: a thread that blocks leaves its stacks in its task storage, the thread
 * that wakes it adds its own, and when it runs again both are sent. Stacks are sent whole: ids of a
 * stack map can collide.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "kernel.h"
#include "offwaketime.h"
#include "process.bpf.h"
#include "ring.bpf.h"
#include "task.bpf.h"

const volatile __u32 only_pids[MAX_IDS], only_tids[MAX_IDS]; /* up to the first 0; none: all */
const volatile bool only_user_threads, only_kernel_threads;
const volatile bool no_user_stacks, no_kernel_stacks;
const volatile __u32 states; /* bits of task_struct.__state; 0: threads that could go on */
const volatile __u64 min_ns, max_ns;

__u64 lost_ns;        /* blocked time of the events that were lost */
__u64 num_no_storage; /* blocked threads for which there was no memory */
__u64 num_skipped;    /* switches of wanted threads that were not seen */

struct blocked {
	__u64 since; /* 0: not blocked */
	__u32 depth; /* of all stacks in the event */
	struct offwaketime_event event;
	__u64 frames[NUM_STACKS * MAX_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct blocked);
} threads SEC(".maps");

/* The task that runs on a CPU. */
struct running {
	__u64 task; /* 0: unknown */
	bool is_wanted;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct running);
} cpus SEC(".maps");

static bool is_one_of(const volatile __u32 *ids, __u32 id)
{
	for (int i = 0; i < MAX_IDS && ids[i]; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static bool is_wanted(struct task_struct *task)
{
	bool is_kernel = task->flags & KERNEL_THREAD;

	/* the idle task has no id of its own */
	if (!task->pid || (only_user_threads && is_kernel) || (only_kernel_threads && !is_kernel))
		return false;
	return (!only_pids[0] || is_one_of(only_pids, process_id(task))) &&
	       (!only_tids[0] || is_one_of(only_tids, thread_id(task)));
}

/*
 * Whether it gives up the processor for a reason that is wanted. One that is preempted while it
 * prepares to wait already has a state, but goes on. A waker may change the state meanwhile, but
 * not to 0.
 */
static bool is_blocking(bool preempt, struct task_struct *task)
{
	__u32 state = 0;

	if (!preempt)
		state = task_state(task);
	return states ? state & states : !state;
}

/* Adds a stack of the current task. That of a waker in the kernel is always wanted: it shows interrupts. */
static void add_stack(void *ctx, struct blocked *b, int stack, __u64 flags)
{
	__u32 at = b->depth;
	long n;

	b->event.stacks.depth[stack] = 0;
	if (at > (NUM_STACKS - 1) * MAX_DEPTH || (stack != WAKER_KERNEL && (flags ? no_user_stacks : no_kernel_stacks)))
		return;
	n = bpf_get_stack(ctx, &b->frames[at], MAX_DEPTH * sizeof(__u64), flags);
	if (n <= 0)
		return;
	b->event.stacks.depth[stack] = n / sizeof(__u64);
	b->depth = at + n / sizeof(__u64);
}

static void set_party(struct party *party, struct task_struct *task)
{
	struct mm_struct *mm = task->mm;

	party->image = mm ? mm->arg_start : 0;
	party->pid = process_id(task);
	party->tid = thread_id(task);
	BPF_CORE_READ_INTO(&party->comm, task, comm);
}

static void block(void *ctx, struct task_struct *task, __u64 now)
{
	struct blocked *b = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!b) {
		__sync_fetch_and_add(&num_no_storage, 1);
		return;
	}
	b->event = (struct offwaketime_event){};
	b->depth = 0;
	set_party(&b->event.stacks.target, task);
	if (b->event.stacks.target.image)
		add_stack(ctx, b, TARGET_USER, BPF_F_USER_STACK);
	add_stack(ctx, b, TARGET_KERNEL, 0);
	/* last: a waker that is too early on another CPU finds nothing rather than half of it */
	b->since = now;
}

static void unblock(struct task_struct *task, __u64 now)
{
	struct blocked *b = bpf_task_storage_get(&threads, task, NULL, 0);
	__u32 size;

	if (!b || !b->since)
		return;
	b->event.ns = now - b->since;
	b->since = 0;
	if (b->event.ns < min_ns || b->event.ns > max_ns)
		return;
	size = sizeof(b->event) + b->depth * sizeof(__u64);
	/* for the verifier */
	if (size > sizeof(b->event) + sizeof(b->frames))
		return;
	if (!ring_send(&b->event, size))
		__sync_fetch_and_add(&lost_ns, b->event.ns);
}

static void forget(struct task_struct *task)
{
	struct blocked *b = bpf_task_storage_get(&threads, task, NULL, 0);

	if (b)
		b->since = 0;
}

/*
 * The task that gives up a CPU is the one that got it last; otherwise a switch was not seen: on
 * some virtual machines BPF programs do not run while a thread of process 1 is current. When that
 * thread became blocked or stopped being so is then unknown.
 */
static void check_order(struct task_struct *prev, struct task_struct *next, bool next_is_wanted)
{
	__u32 key = 0;
	struct running *cpu = bpf_map_lookup_elem(&cpus, &key);

	if (!cpu)
		return;
	if (cpu->task && cpu->task != (__u64)prev) {
		if (cpu->is_wanted || is_wanted(prev))
			__sync_fetch_and_add(&num_skipped, 1);
		forget(prev);
	}
	cpu->task = (__u64)next;
	cpu->is_wanted = next_is_wanted;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	bool prev_blocks = is_blocking(preempt, prev) && is_wanted(prev);
	bool next_is_wanted = is_wanted(next);
	__u64 now;

	check_order(prev, next, next_is_wanted);
	if (!prev_blocks && !next_is_wanted)
		return 0;
	/* before the stacks are walked: that time belongs to neither thread */
	now = bpf_ktime_get_ns();
	if (prev_blocks)
		block(ctx, prev, now);
	if (next_is_wanted)
		unblock(next, now);
	return 0;
}

/* Runs on the waker's CPU, unlike sched_wakeup. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct task_struct *waker = (void *)bpf_get_current_task_btf();
	struct blocked *b = bpf_task_storage_get(&threads, task, NULL, 0);

	if (!b || !b->since || b->event.stacks.waker.comm[0])
		return 0;
	set_party(&b->event.stacks.waker, waker);
	add_stack(ctx, b, WAKER_KERNEL, 0);
	if (b->event.stacks.waker.image)
		add_stack(ctx, b, WAKER_USER, BPF_F_USER_STACK);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
