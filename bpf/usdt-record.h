/* SPDX-License-Identifier: BSD-3-Clause */
/* What usdt-record and its BPF program share: how to fetch arguments, and events. */
#ifndef USDT_RECORD_BPF_H
#define USDT_RECORD_BPF_H

#include <linux/types.h>

enum {
	MAX_ARGS = 12,
	/* of a probe: all that fits into the 8 KB of task storage that kernels such as 7.2 allow */
	MAX_STRINGS = 6,
	/* the longest string that is kept whole, without its NUL */
	MAX_STRING = 1024,
	/* the most of any machine, arm64's 272 bytes, and a word that stays 0: no register */
	REGS_SIZE = 280,
	NO_REGISTER = REGS_SIZE - sizeof(__u64),
};

/* Where a probe keeps an argument. */
struct operand {
	enum { CONSTANT, REGISTER, MEMORY } kind : 8;
	__u8 size; /* in bytes: 1, 2, 4, 8 */
	__u8 is_signed, is_string;
	/* byte offsets into the registers; in memory at base + (index << scale) + value */
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
 * What could not be read has its bit in `unreadable`; of a number that could not, the word is 0.
 */
struct usdt_record_event {
	__u64 ns; /* when the program began */
	__u32 site;
	__u16 unreadable;
	__u16 cut; /* strings that are longer than MAX_STRING, of which the rest is missing */
};

#endif
