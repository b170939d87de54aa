/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor's counter, for programs that stamp what they do themselves. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

/* Neither earlier nor later than the code around it. */
static inline uint64_t counter_now(void)
{
	uint64_t count;

#ifdef __x86_64__
	_mm_lfence();
	count = __rdtsc();
	_mm_lfence();
#else
	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(count) : : "memory");
#endif
	return count;
}

#endif
