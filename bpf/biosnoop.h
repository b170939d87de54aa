/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of biosnoop's BPF program. */
#pragma once

#include <linux/types.h>

enum {
	COMM_SIZE = 16,
	DISK_SIZE = 32,
	SECTOR = 512, /* bytes, whatever the size of the disk's own sectors */
	/* of cmd_flags: the kernel's enum req_op and enum req_flag_bits */
	OP_MASK = 0xff,
	OP_READ = 0,
	OP_WRITE = 1,
	OP_FLUSH = 2,
	OP_DISCARD = 3,
	OP_SECURE_ERASE = 5,
	OP_WRITE_ZEROES = 9,
	FLAG_SYNC = 1 << 11,
	FLAG_META = 1 << 12,
	FLAG_FUA = 1 << 17,
	FLAG_PREFLUSH = 1 << 18,
	FLAG_AHEAD = 1 << 19,
};

/* What finds new requests. */
enum hook { ON_START, ON_INSERT, ON_ISSUE, NUM_HOOKS };

/* Whether a request starts at the end of the one that the disk completed before it. */
enum biosnoop_pattern {
	PATTERN_UNKNOWN, /* the first of a disk, or one that is for no sectors */
	PATTERN_SEQUENTIAL,
	PATTERN_RANDOM,
};

/* Times are nanoseconds of CLOCK_MONOTONIC, 0 when unknown. */
struct biosnoop_event {
	__u64 start_ns;  /* passed to the block layer */
	__u64 issued_ns; /* passed to the driver, the last time */
	__u64 end_ns;
	__u64 sector;
	__u64 bytes;
	__u32 flags; /* cmd_flags */
	__s32 error; /* 0, a blk_status_t, or, before 5.16, a negative errno */
	/* of the process that issued it; 0: unknown, or of the kernel's own idle task */
	__u32 pid;
	__u16 cpu;            /* that handled its completion */
	__u16 pattern;        /* enum biosnoop_pattern */
	char comm[COMM_SIZE]; /* of the thread that issued it; empty: unknown */
	char disk[DISK_SIZE]; /* empty: it has none */
};
