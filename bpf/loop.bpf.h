/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* For loops with two limits: a constant for the verifier, and a variable. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

/*
 * i < limit. It hides from the compiler that the limit stays the same: clang 19 otherwise compares i by != with the
 * smaller limit, and the verifier of Linux 6.1 does not see that such a loop ends.
 */
static __always_inline bool is_below(__u64 i, __u64 limit)
{
	barrier_var(limit);
	return i < limit;
}
