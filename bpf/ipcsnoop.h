/* SPDX-License-Identifier: BSD-3-Clause */
/* What ipcsnoop and its BPF program share: system calls, their counts, and events at pipes. */
#ifndef IPCSNOOP_BPF_H
#define IPCSNOOP_BPF_H

#include <linux/types.h>

#include "calls.h"

enum { COMM_SIZE = 16 };

#define NOT_KNOWN (~0ULL)

/* How a call may read from a pipe or write to one. Arguments are counted from 1; 0: none. */
struct operation {
	__u8 from, to; /* descriptors; if both are the same one, its mode decides */
	__u8 asked;    /* bytes, or, with vectors, their number */
	__u8 vectors;
};

/* Of one kind of call, on one CPU. */
struct count {
	__u64 calls, errors;
	__u64 ns; /* of those that returned */
};

/* Sent when a call at a pipe returns, and at the end for those still waiting. Times: CLOCK_MONOTONIC. */
struct ipcsnoop_event {
	__u64 start_ns; /* 0: before tracing; `used`, `slots` and `blocked` are then unknown */
	__u64 end_ns;
	__u64 inode;
	__u64 asked;  /* bytes; or NOT_KNOWN */
	__s64 result; /* bytes moved, or a negative errno; of an unfinished one: 0 */
	/* the pipe when the call started */
	__u64 queued;      /* bytes; or NOT_KNOWN */
	__u32 used, slots; /* buffers in use, and all */
	__u32 pid;
	__u32 cpu;
	__u16 call; /* number; of 32 bits: from NUMBERS on */
	__u8 writes, blocked, unfinished;
	char comm[COMM_SIZE];
};

#endif
