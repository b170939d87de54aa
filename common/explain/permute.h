/* SPDX-License-Identifier: BSD-3-Clause */
/* A permutation test: whether some numbers are larger than others by more than chance. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the first of n numbers, which are `first`, have a larger mean than the others: so large that less than one in
 * 200 random choices of as many have as large a one. Changes the order of the numbers.
 */
bool permute_is_larger(double *all, size_t first, size_t n);
