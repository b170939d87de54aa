/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* The order of two numbers, as qsort(3) wants it. With further keys: ORDER(x->a, y->a) ?: ORDER(x->b, y->b). */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}
