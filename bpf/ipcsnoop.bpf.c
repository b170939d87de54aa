// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0
/*
 * ipcsnoop's program: counts the system calls of a process and its children, and sends an event for
 * those that read from channels between processes or write to them, such as pipes. The descriptor
 * leads to the channel through the task's file table.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "calls.bpf.h"
#include "channels.bpf.h"
#include "copies.bpf.h"
#include "descendants.bpf.h"
#include "ipcsnoop.h"
#include "loop.bpf.h"
#include "requests.bpf.h"

enum {
	/* of the kernel */
	FMODE_WRITE = 2,
	MAX_ERRNO = 4095,
	MAX_VECTORS = 1024,
	/* bits: send, recv, sendto, recvfrom, sendmsg, recvmsg, recvmmsg, sendmmsg of linux/net.h */
	SOCKETCALLS = 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 16 | 1 << 17 | 1 << 19 | 1 << 20,
};

const volatile bool with_counts;
const volatile bool with_late_calls;                   /* also events of calls that started before tracing */
const volatile struct operation operations[NUM_CALLS]; /* all zero: no events */
const volatile char only_name[COMM_SIZE];              /* without first_process: follow those of this name */

/* By CPU, then by call: an array for each CPU, which user space reads without system calls. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, NUM_CALLS);
	__type(key, __u32);
	__type(value, struct count);
} counts SEC(".maps");

__u64 num_no_start;  /* calls whose start was not seen, or that a filter of the process denied */
__u64 num_no_return; /* calls whose return was not seen */

__u64 num_socketcalls; /* reads and writes that have no events */

/* The call that a thread is in. */
struct call {
	__u64 start_ns;                     /* 0: it is in no call */
	__u8 left_of_start, left_of_return; /* see is_first_copy() */
	__u32 call;
	__u32 pid;
	unsigned long nvcsw; /* how often it had slept before */
	__u64 asked;         /* bytes; or, with vectors or messages, their number */
	__u64 vectors;       /* the address of vectors, of a message or of messages */
	struct peer waker;
	struct end from, to;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

/* Of the tracepoints of raw_syscalls, as the kernel lays it out. */
struct syscall_record {
	__u64 header;
	__s64 number;
	__s64 value; /* the result, or the first argument */
};

static struct count *count_of(__u32 call)
{
	__u32 key = bpf_get_smp_processor_id() * NUM_CALLS + call;

	return bpf_map_lookup_elem(&counts, &key);
}

static __always_inline void find_channels(struct call *c, struct task_struct *task, struct pt_regs *regs,
					  const volatile struct operation *o)
{
	bool compat = is_compat(task), writes = o->to, reads = o->from;
	struct file *file;

	clear_end(&c->from);
	clear_end(&c->to);
	c->asked = call_argument(regs, compat, o->asked);
	c->vectors = call_argument(regs, compat, o->vectors | o->message | o->messages);
	if (o->is_id) {
		set_ends(writes ? &c->to : &c->from, CHANNEL_MSG, call_argument(regs, compat, 1),
			 BPF_CORE_READ(task, nsproxy, ipc_ns, ns.inum), c->pid, writes);
		return;
	}
	if (reads) {
		file = file_of(task, call_argument(regs, compat, o->from));
		if (o->from == o->to) {
			writes = BPF_CORE_READ(file, f_mode) & FMODE_WRITE;
			reads = !writes;
		}
		if (reads)
			find_end(&c->from, (__u64)file, c->pid, false);
	}
	if (writes)
		find_end(&c->to, (__u64)file_of(task, call_argument(regs, compat, o->to)), c->pid, true);
}

/* Returns the task's storage. If there is no memory, counts that and returns NULL. */
static __always_inline struct call *storage_of(struct task_struct *task, __u32 copy)
{
	struct call *c = bpf_task_storage_get(&calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!c)
		__sync_fetch_and_add(&num_no_storage[copy], 1);
	return c;
}

static __always_inline void set_call(struct call *c, struct task_struct *task, __u32 call, __u32 pid)
{
	c->call = call;
	c->pid = pid;
	c->nvcsw = task->nvcsw;
	c->waker.comm[0] = 0;
	c->from.kind = c->to.kind = CHANNEL_NONE;
}

/* Atomic, because a thread may be preempted in one copy, and another one on this CPU run the next. */
static __always_inline void count_call(__u32 call)
{
	struct count *count = with_counts ? count_of(call) : NULL;

	if (count)
		__sync_fetch_and_add(&count->calls, 1);
}

static __always_inline int start_call(struct pt_regs *regs, __u64 number, __u32 copy)
{
	const volatile struct operation *o;
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 pid = followed_id(), call;
	struct call *c;

	if (!pid)
		return 0;
	call = place_of(task, number);
	o = &operations[call];
	if (!with_counts && !o->asked && !o->socketcall)
		return 0;
	c = storage_of(task, copy);
	if (!c)
		return 0;
	if (!is_first_copy(&c->left_of_start, copy))
		return 0;
	if (c->start_ns)
		__sync_fetch_and_add(&num_no_return, 1);
	count_call(call);
	set_call(c, task, call, pid);
	if (o->asked)
		find_channels(c, task, regs, o);
	else if (o->socketcall && SOCKETCALLS >> (call_argument(regs, true, 1) & 31) & 1)
		__sync_fetch_and_add(&num_socketcalls, 1);
	c->start_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int run_on_call(__u64 *ctx, __u32 copy)
{
	return start_call((void *)ctx[0], ctx[1], copy);
}

PROGRAM_WITH_COPIES("tp_btf/sys_enter", on_call)

/*
 * By a perf event, for which the kernel turns preemption off: from Linux 7.0 on it replaces the copies, and costs less.
 * Its record has no registers.
 */
SEC("?tp/raw_syscalls/sys_enter")
int on_call_event(struct syscall_record *record)
{
	return start_call((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), record->number, 0);
}

/* The bytes that vectors ask for, which the kernel has just read. */
__attribute__((noinline)) __u64 sum_vectors(__u64 vectors, __u64 number, bool compat)
{
	__u64 sum = 0;

	if (number > MAX_VECTORS)
		return NOT_KNOWN;
	for (__u32 i = 0; i < MAX_VECTORS && is_below(i, number); i++) {
		__u64 size = 0;
		long error;

		if (compat)
			error = bpf_probe_read_user(&size, 4, (void *)(vectors + 8 * i + 4));
		else
			error = bpf_probe_read_user(&size, 8, (void *)(vectors + 16 * i + 8));
		if (error)
			return NOT_KNOWN;
		sum += size;
	}
	return sum;
}

/* The bytes that the first messages of an array have moved; only after the call. */
__attribute__((noinline)) __s64 sum_messages(__u64 messages, __u64 number, bool compat)
{
	__u64 sum = 0;

	for (__u32 i = 0; i < MAX_VECTORS && is_below(i, number); i++) {
		__u32 size = 0;

		if (bpf_probe_read_user(&size, sizeof(size), (void *)(messages + (compat ? 32 * i + 28 : 64 * i + 56))))
			return MOVED_NOT_KNOWN;
		sum += size;
	}
	return sum;
}

/* The bytes that the vectors of a message ask for. */
static __u64 sum_message(__u64 message, bool compat)
{
	__u64 vectors[2] = {};

	if (!compat) {
		if (bpf_probe_read_user(vectors, sizeof(vectors), (void *)(message + 16)))
			return NOT_KNOWN;
	} else {
		__u32 narrow[2];

		if (bpf_probe_read_user(narrow, sizeof(narrow), (void *)(message + 8)))
			return NOT_KNOWN;
		vectors[0] = narrow[0];
		vectors[1] = narrow[1];
	}
	return sum_vectors(vectors[0], vectors[1], compat);
}

/* Sends events of a call of the task, if it uses a channel. */
static __always_inline void emit(const struct call *c, struct task_struct *task, struct ipcsnoop_event *e)
{
	if (!c->from.kind && !c->to.kind)
		return;
	e->start_ns = c->start_ns;
	e->end_ns = bpf_ktime_get_ns();
	e->pid = c->pid;
	e->cpu = bpf_get_smp_processor_id();
	e->call = c->call;
	e->blocked = task->nvcsw != c->nvcsw;
	if (e->blocked)
		e->waker = c->waker;
	BPF_CORE_READ_STR_INTO(&e->comm, task, comm);
	emit_end(&c->from, e, false);
	emit_end(&c->to, e, true);
}

static __always_inline void emit_result(const struct call *c, struct task_struct *task, long result)
{
	bool compat = c->call >= NUMBERS;
	struct ipcsnoop_event e = {};
	const volatile struct operation *o;

	if (c->call >= NUM_CALLS)
		return;
	o = &operations[c->call];
	e.result = result;
	e.asked = c->asked;
	if (o->vectors) {
		e.asked = sum_vectors(c->vectors, c->asked, compat);
	} else if (o->message) {
		e.asked = sum_message(c->vectors, compat);
	} else if (o->messages) {
		e.asked = NOT_KNOWN;
		if (result > 0)
			e.result = sum_messages(c->vectors, result, compat);
	} else if (o->all_or_none && !result) {
		e.result = c->asked;
	}
	emit(c, task, &e);
}

/* For a call that started before tracing: the state of the channel at that time is unknown. */
static __always_inline void emit_late(struct task_struct *task, struct pt_regs *regs, long result, __u32 copy)
{
	__u32 pid = followed_id(), call;
	struct call *c;

	if (!pid)
		return;
	call = place_of(task, call_number(regs));
	if (!operations[call].asked)
		return;
	c = storage_of(task, copy);
	if (!c)
		return;
	c->left_of_return = LAST_COPY - copy;
	set_call(c, task, call, pid);
	find_channels(c, task, regs, &operations[call]);
	c->from.queued = c->to.queued = NOT_KNOWN;
	c->from.slots = c->to.slots = 0;
	c->from.pipe_state &= PIPE_NONBLOCK | PIPE_PACKET;
	c->to.pipe_state &= PIPE_NONBLOCK | PIPE_PACKET;
	emit_result(c, task, result);
}

static __always_inline void count_return(const struct call *c, long result)
{
	struct count *count = with_counts ? count_of(c->call) : NULL;

	if (!count)
		return;
	__sync_fetch_and_add(&count->ns, bpf_ktime_get_ns() - c->start_ns);
	if ((unsigned long)result >= (unsigned long)-MAX_ERRNO)
		__sync_fetch_and_add(&count->errors, 1);
}

/* Not called for system calls that do not return. */
static __always_inline int end_call(struct pt_regs *regs, long result, __u32 copy)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call *c = bpf_task_storage_get(&calls, task, NULL, 0);

	if (!c) {
		if (with_late_calls)
			emit_late(task, regs, result, copy);
		return 0;
	}
	if (!is_first_copy(&c->left_of_return, copy))
		return 0;
	if (!c->start_ns) {
		if (with_counts || operations[place_of(task, call_number(regs))].asked)
			__sync_fetch_and_add(&num_no_start, 1);
		return 0;
	}
	count_return(c, result);
	if (c->from.kind || c->to.kind)
		emit_result(c, task, result);
	c->start_ns = 0;
	return 0;
}

static __always_inline int run_on_return(__u64 *ctx, __u32 copy)
{
	return end_call((void *)ctx[0], ctx[1], copy);
}

PROGRAM_WITH_COPIES("tp_btf/sys_exit", on_return)

SEC("?tp/raw_syscalls/sys_exit")
int on_return_event(struct syscall_record *record)
{
	return end_call((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), record->value, 0);
}

/* Whether `asked` of a call is in bytes. */
static bool has_bytes(__u32 call)
{
	const volatile struct operation *o = &operations[call < NUM_CALLS ? call : 0];

	return !o->vectors && !o->message && !o->messages;
}

/* Attached only with -w. If the thread was woken before it slept, emit() finds that the call did not block. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct task_struct *waker = (void *)bpf_get_current_task_btf();
	struct call *c = bpf_task_storage_get(&calls, task, NULL, 0);

	if (!c || !c->start_ns || task == waker)
		return 0;
	c->waker.pid = process_id(waker);
	bpf_get_current_comm(c->waker.comm, sizeof(c->waker.comm));
	return 0;
}

static bool has_name(struct task_struct *task)
{
	char name[COMM_SIZE] = {};

	BPF_CORE_READ_STR_INTO(&name, task, comm);
	return is_same(name, only_name, sizeof(name));
}

/* Instead of find_first, with only_name. */
SEC("iter/task")
int find_named(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 id;

	if (!task || task->pid != task->tgid || !has_name(task))
		return 0;
	id = process_id(task);
	if (id) {
		follow(task, id);
		forget_if_dead(task);
	}
	return 0;
}

/* Follows a process that gets the name later, by running a program of that name. A second time does no harm. */
static __always_inline int run_on_exec(__u64 *ctx, __u32 copy)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 id;

	if (!has_name(task))
		return 0;
	id = process_id(task);
	if (id)
		follow(task, id);
	return 0;
}

PROGRAM_WITH_COPIES("tp_btf/sched_process_exec", on_exec)

/* Called with every thread when tracing ends. */
SEC("iter/task")
int find_unfinished(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	struct ipcsnoop_event e = {};
	struct call *c;

	if (!task)
		return 0;
	c = bpf_task_storage_get(&calls, task, NULL, 0);
	if (!c || !c->start_ns)
		return 0;
	e.unfinished = true;
	e.asked = has_bytes(c->call) ? c->asked : NOT_KNOWN;
	emit(c, task, &e);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
