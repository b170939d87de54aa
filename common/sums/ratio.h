/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of up to 128 bits divided by each other. */
#pragma once

#include <stdint.h>

/* 0 to 1; of nothing, 0 */
static inline double ratio_part(unsigned __int128 part, unsigned __int128 of)
{
	return of ? (double)part / (double)of : 0;
}

static inline double ratio_per_second(unsigned __int128 n, uint64_t ns)
{
	return ns ? (double)n * 1e9 / (double)ns : 0;
}

/* n is not 0 */
static inline uint64_t ratio_mean(unsigned __int128 sum, uint64_t n)
{
	return (sum + n / 2) / n;
}
