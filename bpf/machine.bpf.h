/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* What differs between processors: the saved registers, and which of them hold a system call. */
#pragma once

#include <linux/ptrace.h>
#include <linux/types.h>
#include <stdbool.h>

#include "kernel.h"

#if defined(__TARGET_ARCH_x86)
enum {
	SAVED_REGISTERS = sizeof(struct pt_regs), /* bytes */
	TS_COMPAT = 2,
	O_DIRECT = 040000,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
/* struct pt_regs; renamed because uapi/asm/ptrace.h uses other field names */
struct pt_regs___kernel {
	unsigned long r10, r8;
	unsigned long bx, cx, dx, si, di;
	unsigned long orig_ax;
};
#pragma clang attribute pop

/* Whether the task's call is one of 32 bits. */
static inline bool is_compat(struct task_struct *task)
{
	return task->thread_info.status & TS_COMPAT;
}

/* Argument n of the call, from 1 on; also when it returns. */
static inline __u64 call_argument(struct pt_regs *ctx, bool compat, __u8 n)
{
	struct pt_regs___kernel *regs = (void *)ctx;

	switch (n) {
	case 1:
		return compat ? (__u32)regs->bx : regs->di;
	case 2:
		return compat ? (__u32)regs->cx : regs->si;
	case 3:
		return compat ? (__u32)regs->dx : regs->dx;
	case 4:
		return compat ? (__u32)regs->si : regs->r10;
	case 5:
		return compat ? (__u32)regs->di : regs->r8;
	default:
		return 0;
	}
}

/* The number of the call that returns. */
static inline __u64 call_number(struct pt_regs *ctx)
{
	return ((struct pt_regs___kernel *)ctx)->orig_ax;
}

/* The address in a return address that was read from a stack. */
static inline __u64 return_address(__u64 address)
{
	return address;
}

#elif defined(__TARGET_ARCH_arm64)
enum {
	/* bytes, at the start of struct pt_regs */
	SAVED_REGISTERS = sizeof(struct user_pt_regs),
	TIF_32BIT = 1 << 22,
	O_DIRECT = 0200000,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs___kernel {
	__u64 regs[31];
	__u64 orig_x0;
	int syscallno;
};
#pragma clang attribute pop

static inline bool is_compat(struct task_struct *task)
{
	return task->thread_info.flags & TIF_32BIT;
}

static inline __u64 call_argument(struct pt_regs *ctx, bool compat, __u8 n)
{
	struct pt_regs___kernel *regs = (void *)ctx;
	__u64 value = 0;

	switch (n) {
	case 1:
		/* its register has the result when the call returns */
		value = regs->orig_x0;
		break;
	case 2:
		value = regs->regs[1];
		break;
	case 3:
		value = regs->regs[2];
		break;
	case 4:
		value = regs->regs[3];
		break;
	case 5:
		value = regs->regs[4];
		break;
	}
	return compat ? (__u32)value : value;
}

static inline __u64 call_number(struct pt_regs *ctx)
{
	return ((struct pt_regs___kernel *)ctx)->syscallno;
}

/* Without the signature that pointer authentication puts in its upper bits. */
static inline __u64 return_address(__u64 address)
{
	return address & ((1ULL << 48) - 1);
}

#else
#error "the registers of this processor are not known"
#endif
