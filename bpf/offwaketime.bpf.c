// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0
/*
 * offwaketime's program: when a thread blocks, its stacks are stored in its task storage. The thread
 * that wakes it adds its own, and when it runs again, both are sent. Stacks are sent whole, because
 * ids of a stack map can collide. find_blocked() stores the stacks of threads that are blocked
 * already; end_blocked() sends those of threads that still are when recording is over.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "cgroup.bpf.h"
#include "kernel.h"
#include "machine.bpf.h"
#include "offwaketime.h"
#include "process.bpf.h"
#include "ring.bpf.h"
#include "task.bpf.h"

const volatile __u32 only_pids[MAX_IDS], only_tids[MAX_IDS]; /* up to the first 0; none: all */
const volatile bool only_user_threads, no_kernel_stacks;
const volatile __u64 min_ns, max_ns;
const volatile char no_waker[COMM_SIZE] = "[none]"; /* a literal would have a map of its own */
const volatile bool reads_other_tasks;              /* find_blocked() may read the memory of other tasks */

__u64 over_ns;        /* when recording was over; 0: not yet */
__u64 lost_ns;        /* blocked time of the events that were lost */
__u64 num_no_storage; /* blocked threads for which there was no memory */
__u64 num_skipped;    /* switches of wanted threads that were not seen */

/* In blocked.since, instead of a time: find_blocked() is writing the struct; the thread was woken meanwhile. */
enum { FINDING = 1, WOKEN };

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
	/* the idle task has no id of its own */
	if (!task->pid || (only_user_threads && task->flags & KERNEL_THREAD))
		return false;
	return (!only_pids[0] || is_one_of(only_pids, process_id(task))) &&
	       (!only_tids[0] || is_one_of(only_tids, thread_id(task))) && is_in_cgroup(task);
}

/* Whether a thread waits in this state. A waker may change the state meanwhile, but not to 0. */
static bool is_waiting(__u32 state)
{
	return state && !(state & STATE_DEAD);
}

/* Where the frames of one more stack go; NULL: it is not wanted. */
static __u64 *stack_room(struct blocked *b, int stack)
{
	__u32 at = b->depth;

	b->event.stacks.depth[stack] = 0;
	/* a waker's kernel stack is always wanted: it shows interrupts */
	if (at > (NUM_STACKS - 1) * MAX_DEPTH || (stack == TARGET_KERNEL && no_kernel_stacks))
		return NULL;
	return &b->frames[at];
}

/* n: bytes, or an error. */
static __always_inline void end_stack(struct blocked *b, int stack, long n)
{
	if (n <= 0)
		return;
	b->event.stacks.depth[stack] = n / sizeof(__u64);
	b->depth += n / sizeof(__u64);
}

/* Adds a stack of the current task. */
static __always_inline void add_stack(void *ctx, struct blocked *b, int stack, __u64 flags)
{
	__u64 *frames = stack_room(b, stack);

	if (frames)
		end_stack(b, stack, bpf_get_stack(ctx, frames, MAX_DEPTH * sizeof(*frames), flags));
}

static __always_inline void set_party(struct party *party, struct task_struct *task)
{
	struct mm_struct *mm = task->mm;

	party->image = mm ? mm->arg_start : 0;
	party->pid = process_id(task);
	party->tid = thread_id(task);
	BPF_CORE_READ_INTO(&party->comm, task, comm);
}

static struct blocked *storage_of(struct task_struct *task)
{
	struct blocked *b = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!b)
		__sync_fetch_and_add(&num_no_storage, 1);
	return b;
}

/* Whether find_blocked() is writing it; if so, makes it drop the result. */
static bool is_being_found(struct blocked *b)
{
	if (b->since != FINDING && b->since != WOKEN)
		return false;
	__sync_val_compare_and_swap(&b->since, FINDING, WOKEN);
	return true;
}

static __always_inline void start_event(struct blocked *b, struct task_struct *task)
{
	b->event = (struct offwaketime_event){};
	b->depth = 0;
	set_party(&b->event.stacks.target, task);
}

static __always_inline void block(void *ctx, struct task_struct *task, __u64 now)
{
	struct blocked *b = storage_of(task);

	if (!b || is_being_found(b))
		return;
	start_event(b, task);
	if (b->event.stacks.target.image)
		add_stack(ctx, b, TARGET_USER, BPF_F_USER_STACK);
	add_stack(ctx, b, TARGET_KERNEL, 0);
	/* last: a waker on another CPU must not find a struct that is half written */
	b->since = now;
}

static __always_inline void send_event(struct blocked *b, __u64 end)
{
	__u32 size = sizeof(b->event);

	b->event.ns = end - b->since;
	b->since = 0;
	if (b->event.ns < min_ns || b->event.ns > max_ns)
		return;
	/* not b->depth: if the kernel skips switches, a waker may have written at the same time as the thread */
	for (int i = 0; i < NUM_STACKS; i++)
		size += b->event.stacks.depth[i] * sizeof(__u64);
	/* for the verifier */
	if (size > sizeof(b->event) + sizeof(b->frames))
		return;
	if (!ring_send(&b->event, size))
		__sync_fetch_and_add(&lost_ns, b->event.ns);
}

static __always_inline void unblock(struct task_struct *task, __u64 now)
{
	struct blocked *b = bpf_task_storage_get(&threads, task, NULL, 0);

	if (b && b->since && !is_being_found(b))
		send_event(b, now);
}

static __always_inline void forget(struct task_struct *task)
{
	struct blocked *b = bpf_task_storage_get(&threads, task, NULL, 0);

	if (b && !is_being_found(b))
		b->since = 0;
}

/*
 * The task that gives up a CPU is the one that got it last; otherwise a switch was not seen. On
 * some virtual machines BPF programs do not run while a thread of process 1 is current. It is then
 * unknown when that thread blocked or was woken.
 */
static __always_inline void check_order(struct task_struct *prev, struct task_struct *next, bool next_is_wanted)
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
	/* one that is preempted while it prepares to wait already has a state, but is runnable */
	bool prev_blocks = !preempt && is_waiting(task_state(prev)) && is_wanted(prev);
	bool next_is_wanted = is_wanted(next);
	__u64 now;

	if (over_ns)
		return 0;
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

	if (!b || !b->since || is_being_found(b) || b->event.stacks.waker.comm[0] || over_ns)
		return 0;
	set_party(&b->event.stacks.waker, waker);
	add_stack(ctx, b, WAKER_KERNEL, 0);
	if (b->event.stacks.waker.image)
		add_stack(ctx, b, WAKER_USER, BPF_F_USER_STACK);
	return 0;
}

/* The memory that contains a thread's stack; empty: it is not known. */
struct range {
	__u64 start, end;
};

/* Only if it is anonymous: reading a mapped file can block for ever. */
static long set_range(struct task_struct *task, struct vm_area_struct *area, struct range *range)
{
	if (!area->vm_file)
		*range = (struct range){area->vm_start, area->vm_end};
	return 0;
}

/* Follows frame pointers, as the kernel does for the current task. Returns the bytes in frames. */
static long walk_user_stack(struct task_struct *task, __u64 *frames)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	__u64 at = PT_REGS_FP(regs), frame[2]; /* the caller's frame pointer, and the return address */
	struct range range = {};
	int n;

	frames[0] = PT_REGS_IP(regs);
	bpf_find_vma(task, at, set_range, &range, 0);
	for (n = 1; n < MAX_DEPTH && at >= range.start && at < range.end && range.end - at >= sizeof(frame); n++) {
		if (bpf_copy_from_user_task(frame, sizeof(frame), (void *)at, task, 0) != 0)
			break;
		at = frame[0];
		frames[n] = return_address(frame[1]);
	}
	return n * sizeof(*frames);
}

/* Adds the stacks of a task that does not run. */
static __always_inline void add_stacks_of(struct task_struct *task, struct blocked *b)
{
	__u64 *frames;

	if (reads_other_tasks && b->event.stacks.target.image) {
		frames = stack_room(b, TARGET_USER);
		if (frames)
			end_stack(b, TARGET_USER, walk_user_stack(task, frames));
	}
	frames = stack_room(b, TARGET_KERNEL);
	if (frames)
		end_stack(b, TARGET_KERNEL, bpf_get_task_stack(task, frames, MAX_DEPTH * sizeof(*frames), 0));
}

static bool is_blocked(struct task_struct *task)
{
	return !task->on_cpu && is_waiting(task_state(task));
}

/*
 * Called with every thread once the rest is attached. One that is blocked, but was not seen to
 * block, counts as blocked from now on. It may be woken meanwhile.
 */
SEC("iter/task")
int find_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct blocked *b;
	__u64 since = 0;

	if (!task || !is_blocked(task) || !is_wanted(task))
		return 0;
	b = storage_of(task);
	if (!b || __sync_val_compare_and_swap(&b->since, 0, FINDING) != 0)
		return 0;
	if (is_blocked(task)) {
		since = bpf_ktime_get_ns();
		start_event(b, task);
		add_stacks_of(task, b);
		b->event.is_open = true;
	}
	if (__sync_val_compare_and_swap(&b->since, FINDING, since) != FINDING)
		b->since = 0;
	return 0;
}

/* Called with every thread when recording is over. */
SEC("iter/task")
int end_blocked(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct blocked *b = task ? bpf_task_storage_get(&threads, task, NULL, 0) : NULL;

	if (!b || !b->since || b->since > over_ns)
		return 0;
	if (!b->event.stacks.waker.comm[0])
		__builtin_memcpy(b->event.stacks.waker.comm, (const char *)no_waker, COMM_SIZE);
	b->event.is_open = true;
	send_event(b, over_ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
