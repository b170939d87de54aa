/* SPDX-License-Identifier: BSD-3-Clause */
/* What usdt-record and its BPF program share: how to fetch arguments, and events. */
#pragma once

#include <linux/types.h>

enum {
	MAX_ARGS = 12,
	/* of a probe: the most that fit into 8 KB of task storage, the limit of kernels such as 7.2 */
	MAX_STRINGS = 6,
	/* the longest string that is not truncated, without its NUL */
	MAX_STRING = 1024,
	/* the registers of any machine, at most arm64's 272 bytes, and a word that stays 0, for NO_REGISTER */
	REGS_SIZE = 280,
	NO_REGISTER = REGS_SIZE - sizeof(__u64),
};

/* Where an argument of a probe is stored. */
struct operand {
	enum { CONSTANT, REGISTER, MEMORY } kind : 8;
	__u8 size; /* in bytes: 1, 2, 4, 8 */
	__u8 is_signed, is_string;
	/* byte offsets into the registers; MEMORY: at base + (index << scale) + value */
	__u16 base, index;
	__u8 scale;
	__s64 value;
};

/* A place in the code; its index in the map of sites is the cookie of its attachment. */
struct site {
	__u32 num_operands;
	struct operand operands[MAX_ARGS];
};

/*
 * An event, followed for each operand by a word and perhaps bytes:
 *	a number: its value, extended to 64 bits
 *	a string: its length, and its bytes, filled up to 8; or, when it is unreadable, its address
 * An operand that could not be read has its bit set in `unreadable`; the word of such a number is 0.
 */
struct usdt_record_event {
	__u64 ns; /* when the BPF program started */
	__u32 site;
	__u16 unreadable;
	__u16 cut; /* bits: strings that were truncated to MAX_STRING */
};
