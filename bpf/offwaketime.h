/* SPDX-License-Identifier: BSD-3-Clause */
/* What offwaketime's BPF program tells of a thread that was blocked. */
#ifndef OFFWAKETIME_BPF_H
#define OFFWAKETIME_BPF_H

#include <linux/types.h>

enum {
	COMM_SIZE = 16,
	MAX_DEPTH = 127, /* frames of a stack, the kernel's PERF_MAX_STACK_DEPTH */
	MAX_IDS = 16,    /* that can be asked for */
};

/* Stacks in the order in which they are in an event. */
enum { TARGET_USER, TARGET_KERNEL, WAKER_KERNEL, WAKER_USER, NUM_STACKS };

/* A thread. */
struct side {
	/* where its process's arguments begin: with pid it tells programs apart; 0: a thread of the kernel */
	__u64 image;
	__u32 pid, tid;       /* 0: it is in another PID namespace, or the idle task */
	char comm[COMM_SIZE]; /* empty: it is not known who it was */
};

/* Who was blocked and who woke it. The frames of all stacks follow, without gaps, the innermost of each first. */
struct stacks {
	struct side target, waker;
	__u16 depth[NUM_STACKS];
};

struct event {
	__u64 ns; /* for which it was blocked */
	struct stacks stacks;
};

#endif
