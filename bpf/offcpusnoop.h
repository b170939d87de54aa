/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of offcpusnoop's BPF program. Times are nanoseconds of CLOCK_MONOTONIC. */
#pragma once

#include <linux/types.h>

#include "calls.h"

enum {
	COMM_SIZE = 16,
	NAME_SIZE = 32,
	MAX_DEPTH = 127, /* frames of a stack, the kernel's PERF_MAX_STACK_DEPTH */
	MAX_IDS = 16,    /* processes that a user can name */
};

/* What a thread does, and what an event is about. */
enum {
	ON_CPU, /* also during interrupts; has no event */
	PREEMPTED,
	BLOCKED,
	YIELDED,
	MIGRATED,  /* preempted by the kernel's migration thread, which moved it to another CPU */
	THROTTLED, /* its cgroup had used up its CPU quota */
	IRQ,
	SOFTIRQ,
	NUM_KINDS,
	TOTALS = NUM_KINDS, /* an event with all times of a thread */
};

/* Where a thread is blocked, besides the numbers of system calls. */
enum {
	IN_FAULT = NUM_CALLS, /* a page fault, or another exception */
	IN_STOP,              /* stopped by a signal or a debugger */
	IN_KERNEL,            /* a thread of the kernel, or a worker of io_uring */
};

/* An interval in which a thread was off its CPU, or in which an interrupt took the CPU from it. */
struct offcpusnoop_event {
	__u32 kind;
	__u32 tid, pid; /* 0: in another PID namespace */
	__u32 cpu;      /* that it lost */
	__u64 begin_ns, end_ns;
	__u64 runnable_ns; /* when it was runnable again; 0: unknown, or never */
	__u32 next_cpu;    /* that it runs on afterwards */
	__u32 by_pid;      /* of the process of `name`; 0: unknown, or the kernel's idle task */
	__u32 number;      /* of the system call, or IN_...; of the softirq; of the vector when there is no name */
	__u16 depth;       /* frames of the kernel stack, which follow, innermost first */
	__u8 cut;          /* enum cut */
	char comm[COMM_SIZE];
	/* of the thread that took the CPU or, if it was blocked, of its waker; of the interrupt; empty: unknown */
	char name[NAME_SIZE];
};

/* Which parts of an interval were before or after recording, and are not in its times. */
enum cut { CUT_BEGIN = 1, CUT_END = 2 };

struct offcpusnoop_totals {
	__u32 kind; /* TOTALS */
	__u32 tid, pid;
	__u32 reserved;
	__u64 begin_ns, end_ns; /* when its recording started and ended */
	__u64 ns[NUM_KINDS];
	char comm[COMM_SIZE];
};
