/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of offwaketime's BPF program. */
#pragma once

#include <linux/types.h>

enum {
	COMM_SIZE = 16,
	MAX_DEPTH = 127, /* frames of a stack, the kernel's PERF_MAX_STACK_DEPTH */
	MAX_IDS = 16,    /* that a user can name */
};

/* The stacks of an event, in its order. */
enum { TARGET_USER, TARGET_KERNEL, WAKER_KERNEL, WAKER_USER, NUM_STACKS };

/* A thread that was blocked or woke one. */
struct party {
	/* address of its process's arguments: with pid identifies a program; 0: a kernel thread */
	__u64 image;
	__u32 pid, tid;       /* 0: in another PID namespace, or the idle task */
	char comm[COMM_SIZE]; /* empty: unknown */
};

/* The blocked thread and its waker. The frames of all stacks follow, innermost first. */
struct stacks {
	struct party target, waker;
	__u16 depth[NUM_STACKS];
};

struct offwaketime_event {
	__u64 ns;      /* how long it was blocked */
	__u64 is_open; /* it was blocked before recording, or still when it was over */
	struct stacks stacks;
};
