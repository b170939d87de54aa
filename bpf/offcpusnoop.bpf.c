// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0
/*
 * offcpusnoop's program: follows the threads of some processes on and off the processors, and through the interrupts
 * that come while they run.
 *
 *	sched_switch                        a thread gives up its CPU, another one gets it
 *	sched_waking, sched_wakeup          it is runnable again
 *	sched_wakeup_new                    it has started another thread
 *	sched_process_exit                  it ends
 *	irq_handler_*, softirq_*, vectors   interrupts, which come while it is current
 *
 * Only threads that are followed have task storage. Any other costs one look-up; with -c, also a walk up its cgroups.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "calls.bpf.h"
#include "cgroup.bpf.h"
#include "kernel.h"
#include "offcpusnoop.h"
#include "process.bpf.h"
#include "ring.bpf.h"
#include "task.bpf.h"

enum {
	/* of the kernel: PF_IO_WORKER; PF_USER_WORKER; __TASK_STOPPED and __TASK_TRACED */
	IO_WORKER = 0x10,
	USER_WORKER = 0x4000,
	STATE_STOPPED = 4 | 8,
};

const volatile __u32 only_pids[MAX_IDS]; /* up to the first 0; none: only_cgroup is set */
const volatile bool is_command;          /* of the one process: it waits for its start, and children are followed */
const volatile __u64 min_ns;             /* shorter intervals have no events */
const volatile __u32 yield_call;         /* the number of sched_yield */
const volatile bool with_stacks;
const volatile char interrupt[8] = "[irq]"; /* a literal would have a map of its own */

__u64 over_ns;         /* when recording was over; 0: not yet */
__u64 num_no_storage;  /* threads for which there was no memory */
__u64 num_skipped;     /* switches that were not seen */
__u64 num_lost_totals; /* of the events that were lost */
__u32 num_found;       /* threads at the start */

struct thread {
	enum { UNKNOWN, FINDING, ON, OFF, ENDED } state; /* FINDING: find_threads() is writing `off` */
	__u32 id;           /* in the kernel's first namespace, for the ids in totals: exec can change it */
	__u64 since;        /* when the state was set */
	__u64 irq, softirq; /* when its current interrupts started; 0: not in one */
	struct offcpusnoop_totals totals;
	bool by_stopper;              /* the kernel's migration thread took its CPU */
	struct offcpusnoop_event off; /* the interval, while it is OFF */
	__u64 stack[MAX_DEPTH];       /* sent with it */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/*
 * A CPU that a followed thread lost while it was runnable, and the other thread that had it for the longest time since
 * then. The first one that got it is often a kernel thread, which has it for some microseconds.
 */
struct lost_cpu {
	__u64 begin_ns; /* of the interval of that thread; 0: no thread waits */
	__u64 since;    /* when the CPU got the thread that has it now */
	__u64 longest_ns;
	__u32 pid;
	char comm[COMM_SIZE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set to the number of CPUs */
	__type(key, __u32);
	__type(value, struct lost_cpu);
} lost_cpus SEC(".maps");

/* What interrupts the thread of a CPU. */
struct interrupts {
	bool irq, softirq;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupts);
} interrupts SEC(".maps");

static struct interrupts *interrupts_here(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&interrupts, &key);
}

/* NULL: it is not followed, or recording is over. */
static struct thread *thread_of(struct task_struct *task)
{
	return over_ns ? NULL : bpf_task_storage_get(&threads, task, NULL, 0);
}

static struct thread *follow(struct task_struct *task)
{
	struct thread *t = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		__sync_fetch_and_add(&num_no_storage, 1);
	return t;
}

static __always_inline void name_thread(struct thread *t, struct task_struct *task)
{
	__u32 id = task->pid;

	if (t->id != id) {
		t->totals.tid = thread_id(task);
		t->totals.pid = process_id(task);
		t->id = id;
	}
	BPF_CORE_READ_INTO(&t->totals.comm, task, comm);
}

static __always_inline void set_thread(struct offcpusnoop_event *e, const struct thread *t)
{
	e->tid = t->totals.tid;
	e->pid = t->totals.pid;
	__builtin_memcpy(e->comm, t->totals.comm, sizeof(e->comm));
}

/* Where a thread is when it gives up its CPU in this state: a system call, or IN_... */
static __u32 place(struct task_struct *task, __u32 state)
{
	__u64 number;

	if (task->flags & (KERNEL_THREAD | IO_WORKER | USER_WORKER))
		return IN_KERNEL;
	if (state & STATE_STOPPED)
		return IN_STOP;
	number = call_number((void *)bpf_task_pt_regs(task));
	return (__s64)number < 0 ? IN_FAULT : place_of(task, number);
}

/* Whether it is the kernel's thread that moves others to another CPU, such as migration/0. */
static bool is_stopper(struct task_struct *task, const char *comm)
{
	const char name[] = "migration/";

	for (int i = 0; i < (int)sizeof(name) - 1; i++)
		if (comm[i] != name[i])
			return false;
	return task->flags & KERNEL_THREAD;
}

static struct lost_cpu *lost_cpu_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&lost_cpus, &cpu);
}

/* A runnable thread loses its CPU to the next one. */
static __always_inline void start_waiting(struct thread *t, struct lost_cpu *lost, struct task_struct *next)
{
	t->off.by_pid = next->pid ? process_id(next) : 0;
	bpf_probe_read_kernel(t->off.name, COMM_SIZE, next->comm);
	t->by_stopper = is_stopper(next, t->off.name);
	if (!lost)
		return;
	lost->begin_ns = lost->since = t->off.begin_ns;
	lost->longest_ns = 0;
}

/* A thread gives up a CPU for which another one waits. */
static __always_inline void note_run(struct lost_cpu *lost, struct task_struct *task, __u64 now)
{
	if (now - lost->since > lost->longest_ns) {
		lost->longest_ns = now - lost->since;
		lost->pid = task->pid ? process_id(task) : 0;
		bpf_probe_read_kernel(lost->comm, sizeof(lost->comm), task->comm);
	}
	lost->since = now;
}

/* A thread runs again. If another one has lost the same CPU since, only the thread that got it first is known. */
static __always_inline void stop_waiting(struct offcpusnoop_event *e)
{
	struct lost_cpu *lost = lost_cpu_of(e->cpu);

	if (!lost || lost->begin_ns != e->begin_ns)
		return;
	lost->begin_ns = 0;
	if (!lost->longest_ns || e->kind == MIGRATED)
		return;
	e->by_pid = lost->pid;
	__builtin_memcpy(e->name, lost->comm, sizeof(lost->comm));
}

static __always_inline void end_thread(struct thread *t, struct task_struct *task, __u64 now)
{
	name_thread(t, task);
	t->state = ENDED;
	t->totals.kind = TOTALS;
	t->totals.end_ns = now;
	if (t->totals.begin_ns && !ring_send(&t->totals, sizeof(t->totals)))
		__sync_fetch_and_add(&num_lost_totals, 1);
}

/*
 * A thread gives up its CPU. One that is preempted while it prepares to wait already has a state, but is runnable. One
 * that is preempted on return to user mode looks like one that yields, except for its system call.
 */
static __always_inline void leave(void *ctx, struct thread *t, struct lost_cpu *lost, bool preempt,
				  struct task_struct *prev, struct task_struct *next, __u64 now)
{
	__u32 state = preempt ? 0 : task_state(prev);
	struct offcpusnoop_event *e = &t->off;
	long n;

	if (t->state == ENDED || __sync_val_compare_and_swap(&t->state, FINDING, UNKNOWN) == FINDING)
		return;
	if (t->state == OFF)
		__sync_fetch_and_add(&num_skipped, 1);
	else if (t->state == ON)
		t->totals.ns[ON_CPU] += now - t->since;
	else
		t->totals.begin_ns = now;
	/* the kernel has skipped on_exit, as it may while another thread is preempted in it, but not this program */
	if (state & STATE_DEAD) {
		end_thread(t, prev, now);
		return;
	}
	e->number = place(prev, state);
	e->kind = state                                 ? BLOCKED
		  : is_throttled(prev)                  ? THROTTLED
		  : !preempt && e->number == yield_call ? YIELDED
							: PREEMPTED;
	e->begin_ns = now;
	e->runnable_ns = state ? 0 : now;
	e->cpu = bpf_get_smp_processor_id();
	e->cut = 0;
	e->depth = 0;
	e->name[0] = 0;
	e->by_pid = 0;
	if (e->kind == PREEMPTED || e->kind == YIELDED) {
		start_waiting(t, lost, next);
	} else if (state && with_stacks) {
		n = bpf_get_stack(ctx, t->stack, sizeof(t->stack), 0);
		if (n > 0)
			e->depth = n / sizeof(__u64);
	}
	t->irq = t->softirq = 0;
	t->since = now;
	t->state = OFF;
}

/* The interval of a thread ends: it runs again, or recording is over. */
static __always_inline void end_interval(struct thread *t, struct task_struct *task, __u64 now, __u32 cpu)
{
	struct offcpusnoop_event *e = &t->off;
	__u32 size = sizeof(*e) + e->depth * sizeof(__u64);

	if (e->kind == PREEMPTED && cpu != e->cpu && t->by_stopper)
		e->kind = MIGRATED;
	if (e->kind != BLOCKED)
		stop_waiting(e);
	/* for the verifier */
	if (e->kind >= NUM_KINDS || size > sizeof(*e) + sizeof(t->stack))
		return;
	t->totals.ns[e->kind] += now - e->begin_ns;
	if (now - e->begin_ns < min_ns)
		return;
	e->end_ns = now;
	e->next_cpu = cpu;
	name_thread(t, task);
	set_thread(e, t);
	ring_send(e, size);
}

static __always_inline void arrive(struct thread *t, struct task_struct *next, __u64 now, __u32 cpu)
{
	if (t->state == ENDED)
		return;
	if (t->state == OFF)
		end_interval(t, next, now, cpu);
	else if (t->state == ON)
		__sync_fetch_and_add(&num_skipped, 1);
	else
		t->totals.begin_ns = now;
	/* when it ends, it may have no id any more */
	if (!t->id)
		name_thread(t, next);
	t->since = now;
	t->state = ON;
}

/* Processes are often moved to their cgroup after their start. */
static bool is_new_in_cgroup(struct task_struct *task)
{
	return only_cgroup && !over_ns && task->pid && is_in_cgroup(task);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct thread *t = thread_of(prev);
	struct lost_cpu *lost = lost_cpu_of(cpu);
	struct interrupts *here = interrupts_here();
	__u64 now = 0;

	/* in case that the kernel skipped the end of one */
	if (here)
		*here = (struct interrupts){};
	if (t || (lost && lost->begin_ns))
		now = bpf_ktime_get_ns();
	if (lost && lost->begin_ns)
		note_run(lost, prev, now);
	if (t)
		leave(ctx, t, lost, preempt, prev, next, now);
	t = thread_of(next);
	if (!t && is_new_in_cgroup(next))
		t = follow(next);
	/* now is from before the stack was walked: that time belongs to neither thread */
	if (t)
		arrive(t, next, now ? now : bpf_ktime_get_ns(), cpu);
	return 0;
}

/* Returns the thread if it was blocked so far; else NULL. */
static __always_inline struct thread *note_runnable(struct task_struct *task)
{
	struct thread *t = thread_of(task);

	if (!t || t->state != OFF || t->off.runnable_ns)
		return NULL;
	t->off.runnable_ns = bpf_ktime_get_ns();
	return t;
}

/* The idle thread wakes nobody itself: not every interrupt has a tracepoint. */
static __always_inline bool is_interrupted(struct task_struct *current)
{
	struct interrupts *here = interrupts_here();

	return !current->pid || (here && (here->irq || here->softirq));
}

/* Runs in the waker. An interrupt has interrupted any thread. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct thread *t = note_runnable(task);

	if (!t)
		return 0;
	if (is_interrupted(waker)) {
		__builtin_memcpy(t->off.name, (const char *)interrupt, sizeof(interrupt));
		return 0;
	}
	t->off.by_pid = process_id(waker);
	bpf_probe_read_kernel(t->off.name, COMM_SIZE, waker->comm);
	return 0;
}

/*
 * Comes after sched_waking, perhaps on another CPU: needed for a thread that was still giving up its CPU then, and if
 * sched_waking was skipped.
 */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task)
{
	note_runnable(task);
	return 0;
}

/* Unlike sched_process_fork, this also shows workers of io_uring. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_new, struct task_struct *task)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	bool is_of_parent = is_command || task->tgid == parent->tgid;

	if (is_of_parent && thread_of(parent))
		follow(task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct thread *t = thread_of(task);
	__u64 now;

	if (!t || t->state == ENDED)
		return 0;
	now = bpf_ktime_get_ns();
	if (t->state == ON)
		t->totals.ns[ON_CPU] += now - t->since;
	else if (t->state == OFF)
		__sync_fetch_and_add(&num_skipped, 1);
	end_thread(t, task, now);
	return 0;
}

static struct thread *current_thread(void)
{
	return thread_of(bpf_get_current_task_btf());
}

/* name: NULL, or in the kernel's memory. */
static __always_inline void end_interrupt(struct thread *t, __u32 kind, __u64 begin, __u64 now, __u32 number,
					  const char *name)
{
	struct offcpusnoop_event e = {.kind = kind, .begin_ns = begin, .end_ns = now, .number = number};

	if (now - begin < min_ns)
		return;
	e.cpu = e.next_cpu = bpf_get_smp_processor_id();
	name_thread(t, bpf_get_current_task_btf());
	set_thread(&e, t);
	if (name)
		bpf_probe_read_kernel_str(e.name, sizeof(e.name), name);
	ring_send(&e, sizeof(e));
}

static __always_inline void begin_irq(void)
{
	struct thread *t = current_thread();
	struct interrupts *here = interrupts_here();

	if (here)
		here->irq = true;
	if (t)
		t->irq = bpf_ktime_get_ns();
}

/* In the totals, an interrupt during a softirq is part of the softirq. */
static __always_inline void end_irq(__u32 number, const char *name)
{
	struct thread *t = current_thread();
	struct interrupts *here = interrupts_here();
	__u64 now, begin;

	if (here)
		here->irq = false;
	if (!t || !t->irq)
		return;
	now = bpf_ktime_get_ns();
	begin = t->irq;
	t->irq = 0;
	if (!t->softirq)
		t->totals.ns[IRQ] += now - begin;
	end_interrupt(t, IRQ, begin, now, number, name);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq, int irq, struct irqaction *action)
{
	begin_irq();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_end, int irq, struct irqaction *action)
{
	end_irq(0, action->name);
	return 0;
}

/* Attached to the tracepoints of all vectors that the kernel has. */
SEC("raw_tp")
int on_vector(struct bpf_raw_tracepoint_args *ctx)
{
	begin_irq();
	return 0;
}

SEC("raw_tp")
int on_vector_end(struct bpf_raw_tracepoint_args *ctx)
{
	end_irq(ctx->args[0], NULL);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq, unsigned int number)
{
	struct thread *t = current_thread();
	struct interrupts *here = interrupts_here();

	if (here)
		here->softirq = true;
	if (t)
		t->softirq = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_end, unsigned int number)
{
	struct thread *t = current_thread();
	struct interrupts *here = interrupts_here();
	__u64 now, begin;

	if (here)
		here->softirq = false;
	if (!t || !t->softirq)
		return 0;
	now = bpf_ktime_get_ns();
	begin = t->softirq;
	t->softirq = 0;
	t->totals.ns[SOFTIRQ] += now - begin;
	end_interrupt(t, SOFTIRQ, begin, now, number, NULL);
	return 0;
}

static bool is_chosen(struct task_struct *task)
{
	__u32 pid;

	if (only_cgroup)
		return is_in_cgroup(task);
	pid = process_id(task);
	for (int i = 0; i < MAX_IDS && only_pids[i]; i++)
		if (only_pids[i] == pid)
			return true;
	return false;
}

static __u32 cpu_of(struct task_struct *task)
{
	return bpf_core_field_exists(task->thread_info.cpu)
		       ? BPF_CORE_READ(task, thread_info.cpu)
		       : BPF_CORE_READ((struct task_struct___before_5_16 *)task, cpu);
}

/*
 * Called with every thread once the rest is attached, so the other programs may know the thread already. It is unknown
 * when a thread lost its CPU, and to which other one.
 */
SEC("iter/task")
int find_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;
	__u32 state;
	__u64 now;

	if (!task || !is_chosen(task))
		return 0;
	state = task_state(task);
	if (state & STATE_DEAD)
		return 0;
	t = follow(task);
	if (!t || __sync_val_compare_and_swap(&t->state, UNKNOWN, FINDING) != UNKNOWN)
		return 0;
	__sync_fetch_and_add(&num_found, 1);
	if (is_command) {
		__sync_val_compare_and_swap(&t->state, FINDING, UNKNOWN);
		return 0;
	}
	now = bpf_ktime_get_ns();
	name_thread(t, task);
	t->totals.begin_ns = now;
	if (task->on_cpu) {
		t->since = now;
		__sync_val_compare_and_swap(&t->state, FINDING, ON);
		return 0;
	}
	t->off = (struct offcpusnoop_event){.cut = CUT_BEGIN};
	t->off.kind = state ? BLOCKED : is_throttled(task) ? THROTTLED : PREEMPTED;
	t->off.begin_ns = now;
	t->off.runnable_ns = state ? 0 : now;
	t->off.cpu = cpu_of(task);
	t->off.number = place(task, state);
	__sync_val_compare_and_swap(&t->state, FINDING, OFF);
	return 0;
}

/* Called with every thread when recording is over. */
SEC("iter/task")
int end_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;

	if (!task)
		return 0;
	t = bpf_task_storage_get(&threads, task, NULL, 0);
	if (!t || t->state == ENDED)
		return 0;
	if (t->state == ON) {
		t->totals.ns[ON_CPU] += over_ns - t->since;
	} else if (t->state == OFF) {
		t->off.cut |= CUT_END;
		end_interval(t, task, over_ns, t->off.cpu);
	}
	end_thread(t, task, over_ns);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
