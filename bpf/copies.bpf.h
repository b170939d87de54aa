/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/*
 * Copies of a program on one hook. From Linux 7.0 on a thread may be preempted in a program, and the kernel skips the
 * program for all other threads of that CPU meanwhile. A copy then does what was skipped: an event is lost only while
 * as many threads are preempted as there are copies. Each copy finds out whether one before has handled the event.
 */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

enum { COPIES = 4, LAST_COPY = COPIES - 1 };

/* Defines program `name` and its copies, which call run_NAME(ctx, number of the copy). User space knows their names. */
#define PROGRAM_WITH_COPIES(section, name)           \
	PROGRAM_COPY(section, name, name, 0)         \
	PROGRAM_COPY("?" section, name, name##_1, 1) \
	PROGRAM_COPY("?" section, name, name##_2, 2) \
	PROGRAM_COPY("?" section, name, name##_3, 3)
#define PROGRAM_COPY(section, name, copy, number) \
	SEC(section) int copy(__u64 *ctx)         \
	{                                         \
		return run_##name(ctx, number);   \
	}

/*
 * Whether this copy is the first one that the kernel runs for an event of a thread. *left: how many copies come after
 * the one that ran last; 0 at the start.
 */
static inline bool is_first_copy(__u8 *left, __u32 copy)
{
	bool is_first = copy + *left <= LAST_COPY;

	*left = LAST_COPY - copy;
	return is_first;
}
