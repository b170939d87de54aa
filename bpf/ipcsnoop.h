/* SPDX-License-Identifier: BSD-3-Clause */
/* What ipcsnoop and its BPF program tell each other of system calls and pipes. */
#ifndef IPCSNOOP_BPF_H
#define IPCSNOOP_BPF_H

#include <linux/types.h>

enum {
	COMM_SIZE = 16,
	/* calls by their number; each kind of them, of 64 and of 32 bits, has one entry for all other numbers */
	NUMBERS = 1024,
	OTHER_NUMBER = NUMBERS - 1,
	NUM_CALLS = 2 * NUMBERS, /* those of 32 bits come last */
};

#define NOT_KNOWN (~0ULL)

/* A call that may read from a pipe or write to one. Arguments are counted from 1; 0: none. */
struct operation {
	__u8 from, to; /* descriptors; if it is the same one, how it was opened tells */
	__u8 asked;    /* bytes, or, with vectors, their number */
	__u8 vectors;
};

/* Of one kind of call, on one CPU. */
struct count {
	__u64 calls, errors;
	__u64 ns; /* from begin to end, of those that ended */
};

/* A call at a pipe, when it has ended or tracing ends. Times are nanoseconds of CLOCK_MONOTONIC. */
struct event {
	__u64 begun; /* 0: before tracing did, so that `used`, `slots` and `blocked` are not known either */
	__u64 done;
	__u64 inode;
	__u64 asked;  /* bytes; or NOT_KNOWN */
	__s64 result; /* bytes moved, or a negative errno; of an unfinished one: 0 */
	/* what was in the pipe when the call began */
	__u64 queued;      /* bytes; or NOT_KNOWN */
	__u32 used, slots; /* buffers, of so many */
	__u32 pid;
	__u32 cpu;
	__u16 call; /* number; of 32 bits: from NUMBERS on */
	__u8 writes, blocked, unfinished;
	char comm[COMM_SIZE];
};

#endif
