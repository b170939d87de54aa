/* SPDX-License-Identifier: BSD-3-Clause */
/* What usdt-record and its BPF program tell each other: how to fetch arguments, and what was fetched. */
#ifndef USDT_RECORD_BPF_H
#define USDT_RECORD_BPF_H

#include <linux/types.h>

enum {
	MAX_ARGS = 12,
	/* of a probe: as many as fit into the 8 KB of task storage that kernels such as 7.2 allow */
	MAX_STRINGS = 6,
	/* the longest string that is kept whole, without its NUL */
	MAX_STRING = 1024,
	/* as many as any machine has: arm64's take 272 bytes; the last word stays 0 and serves as no register */
	REGS_SIZE = 280,
	NO_REGISTER = REGS_SIZE - sizeof(__u64),
};

/* Where a probe keeps an argument. */
struct operand {
	enum { CONSTANT, REGISTER, MEMORY } kind : 8;
	__u8 size; /* in bytes: 1, 2, 4, 8 */
	__u8 is_signed, is_string;
	/* offsets in bytes of what the kernel saves; the address in memory is base + (index << scale) + value */
	__u16 base, index;
	__u8 scale;
	__s64 value;
};

/* A place in the code; the cookie of its attachment is its index in the map of sites. */
struct site {
	__u32 num_operands;
	struct operand operands[MAX_ARGS];
};

/*
 * An event, and behind it for each operand a word and perhaps bytes:
 *	a number: its value, extended to 64 bits
 *	a string: its length, and its bytes, filled up to 8; or, when it is unreadable, its address
 * What could not be read has its bit in `unreadable`; of a number that could not, the word is 0.
 */
struct usdt_record_event {
	__u32 site;
	__u16 unreadable;
	__u16 cut; /* strings that are longer than MAX_STRING, of which the rest is missing */
};

#endif
