// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0
/*
 * ipcsnoop's program: counts the system calls of a process and its children, and sends an event for
 * those that read from pipes or write to them. The descriptor leads to the pipe through the task's
 * file table.
 */
#include <linux/bpf.h>
#include <linux/stat.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "calls.bpf.h"
#include "descendants.bpf.h"
#include "foreign.bpf.h"
#include "ipcsnoop.h"
#include "ring.bpf.h"

enum {
	/* of the kernel */
	FMODE_WRITE = 2,
	MAX_ERRNO = 4095,
	MAX_VECTORS = 1024,
	/* default pipe-max-size / PAGE_SIZE: all that an unprivileged pipe can have */
	MAX_SUMMED = 256,
};

const volatile bool with_counts;
const volatile bool with_late_calls;                   /* events of those that started before */
const volatile struct operation operations[NUM_CALLS]; /* all zero: no events */

__u64 num_no_storage; /* calls for which there was no memory */

/* By CPU, then by call: an array for each CPU, which user space reads without system calls. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, NUM_CALLS);
	__type(key, __u32);
	__type(value, struct count);
} counts SEC(".maps");

/* A pipe as a call finds it. */
struct end {
	bool is_pipe;
	__u32 used, slots;
	__u64 queued;
	__u64 inode;
};

/* The call that a thread is in. */
struct call {
	__u64 start_ns; /* 0: it is in no call */
	__u32 call;
	__u32 pid;
	unsigned long nvcsw; /* how often it had slept before */
	__u64 asked;         /* bytes; or, with vectors, their number */
	__u64 vectors;
	bool has_vectors;
	struct end from, to;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

static struct count *count_of(__u32 call)
{
	__u32 key = bpf_get_smp_processor_id() * NUM_CALLS + call;

	return bpf_map_lookup_elem(&counts, &key);
}

static struct file *file_of(struct task_struct *task, __u32 descriptor)
{
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;

	if (table && descriptor < table->max_fds)
		bpf_probe_read_kernel(&file, sizeof(file), table->fd + descriptor);
	return file;
}

/*
 * The bytes in a pipe, whose buffers are at this address. Global, as sum_vectors() is, so that the
 * verifier checks it once instead of once per loop iteration.
 */
__attribute__((noinline)) __u64 sum_buffers(__u64 buffers, __u32 tail, __u32 used, __u32 slots)
{
	__u64 sum = 0;

	if (used > MAX_SUMMED)
		return NOT_KNOWN;
	for (__u32 i = 0; i < MAX_SUMMED && i < used; i++) {
		struct pipe_buffer *buffer = (void *)buffers + ((tail + i) & (slots - 1)) * bpf_core_type_size(*buffer);

		sum += BPF_CORE_READ(buffer, len);
	}
	return sum;
}

/* Nothing is locked: another process may use the pipe at this moment. */
static void read_pipe(struct end *end, struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct pipe_inode_info *pipe;
	__u32 tail;

	if (!inode || !S_ISFIFO(BPF_CORE_READ(inode, i_mode)))
		return;
	pipe = BPF_CORE_READ(inode, i_pipe);
	if (!pipe)
		return;
	end->is_pipe = true;
	end->inode = BPF_CORE_READ(inode, i_ino);
	tail = BPF_CORE_READ(pipe, tail);
	end->used = BPF_CORE_READ(pipe, head) - tail;
	end->slots = BPF_CORE_READ(pipe, ring_size);
	end->queued = sum_buffers((__u64)BPF_CORE_READ(pipe, bufs), tail, end->used, end->slots);
}

static void find_pipes(struct call *c, struct task_struct *task, struct pt_regs *regs,
		       const volatile struct operation *o)
{
	bool compat = is_compat(task), writes = o->to, reads = o->from;
	struct file *file;

	if (reads) {
		file = file_of(task, call_argument(regs, compat, o->from));
		if (o->from == o->to) {
			writes = BPF_CORE_READ(file, f_mode) & FMODE_WRITE;
			reads = !writes;
		}
		if (reads)
			read_pipe(&c->from, file);
	}
	if (writes)
		read_pipe(&c->to, file_of(task, call_argument(regs, compat, o->to)));
	c->asked = call_argument(regs, compat, o->asked);
	c->vectors = call_argument(regs, compat, o->vectors);
	c->has_vectors = o->vectors;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs *regs, long number)
{
	const volatile struct operation *o;
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 pid = followed_id(), call;
	struct count *count;
	struct call *c;

	if (!pid || is_foreign(task))
		return 0;
	call = place_of(task, number);
	o = &operations[call];
	if (with_counts) {
		count = count_of(call);
		if (count)
			count->calls++;
	} else if (!o->asked) {
		return 0;
	}
	c = bpf_task_storage_get(&calls, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c) {
		__sync_fetch_and_add(&num_no_storage, 1);
		return 0;
	}
	c->call = call;
	c->pid = pid;
	c->nvcsw = task->nvcsw;
	c->from.is_pipe = c->to.is_pipe = false;
	if (o->asked)
		find_pipes(c, task, regs, o);
	c->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* The bytes that vectors ask for, which the kernel has just read. */
__attribute__((noinline)) __u64 sum_vectors(__u64 vectors, __u64 number, bool compat)
{
	__u64 sum = 0;

	if (number > MAX_VECTORS)
		return NOT_KNOWN;
	for (__u32 i = 0; i < MAX_VECTORS && i < number; i++) {
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

static void emit_end(const struct end *end, struct ipcsnoop_event *e, bool writes)
{
	if (!end->is_pipe)
		return;
	e->inode = end->inode;
	e->queued = end->queued;
	e->used = end->used;
	e->slots = end->slots;
	e->writes = writes;
	ring_send(e, sizeof(*e));
}

/* Sends events of a call of the task, if it is at a pipe. */
static void emit(const struct call *c, struct task_struct *task, struct ipcsnoop_event *e)
{
	if (!c->from.is_pipe && !c->to.is_pipe)
		return;
	e->start_ns = c->start_ns;
	e->end_ns = bpf_ktime_get_ns();
	e->pid = c->pid;
	e->cpu = bpf_get_smp_processor_id();
	e->call = c->call;
	e->blocked = task->nvcsw != c->nvcsw;
	BPF_CORE_READ_STR_INTO(&e->comm, task, comm);
	emit_end(&c->from, e, false);
	emit_end(&c->to, e, true);
}

static void emit_result(const struct call *c, struct task_struct *task, long result)
{
	struct ipcsnoop_event e = {};

	e.result = result;
	e.asked = c->asked;
	if (c->has_vectors)
		e.asked = sum_vectors(c->vectors, c->asked, c->call >= NUMBERS);
	emit(c, task, &e);
}

/* The state of the pipe when the call started is unknown. */
static void emit_late(struct task_struct *task, struct pt_regs *regs, long result)
{
	__u32 pid = followed_id(), call;
	struct call c = {};

	if (!pid || is_foreign(task))
		return;
	call = place_of(task, call_number(regs));
	if (!operations[call].asked)
		return;
	c.call = call;
	c.pid = pid;
	find_pipes(&c, task, regs, &operations[call]);
	c.from.queued = c.to.queued = NOT_KNOWN;
	emit_result(&c, task, result);
}

/* Not for calls that do not return. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call *c = bpf_task_storage_get(&calls, task, NULL, 0);
	struct count *count;

	if (!c || !c->start_ns) {
		if (with_late_calls && !c)
			emit_late(task, regs, result);
		return 0;
	}
	if (with_counts) {
		count = count_of(c->call);
		if (count) {
			count->ns += bpf_ktime_get_ns() - c->start_ns;
			count->errors += (unsigned long)result >= (unsigned long)-MAX_ERRNO;
		}
	}
	if (c->from.is_pipe || c->to.is_pipe)
		emit_result(c, task, result);
	c->start_ns = 0;
	return 0;
}

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
	e.asked = c->has_vectors ? NOT_KNOWN : c->asked;
	emit(c, task, &e);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
