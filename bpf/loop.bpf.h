/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* Loops with two limits: a constant, which the verifier wants, and a variable. */
#ifndef LOOP_BPF_H
#define LOOP_BPF_H

#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

/*
 * i < limit. If compilers knew that the limit does not change, they would compare i by != with the smaller of both
 * limits, and the verifier of Linux 6.1 would find no end.
 */
static __always_inline bool is_below(__u64 i, __u64 limit)
{
	barrier_var(limit);
	return i < limit;
}

#endif
