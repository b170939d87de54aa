/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ticks as microseconds with three decimals: what Python prints for '%.3f' % (ticks * 10**6 / rate), that
 * is, the quotient rounded to a double and that rounded to decimals, for every 64-bit number of ticks.
 *
 * One multiplication by the reciprocal gives the nanoseconds and what is behind them. Only where that is
 * too close to one half for the product and the double to agree for certain, an exact division decides.
 */
#ifndef TRACE_DUMP_US_H
#define TRACE_DUMP_US_H

#include <stdint.h>

struct us {
	uint64_t rate;       /* ticks a second */
	uint64_t limit;      /* fewer ticks go by the reciprocal */
	uint64_t reciprocal; /* nanoseconds a tick, times 2^(64 - shift) */
	unsigned shift;
};

enum { US_ROOM = 32 }; /* bytes that us_format() may write */

/* The rate must not be 0. */
void us_init(struct us *us, uint64_t rate);

/* Writes the microseconds and returns the end. */
char *us_format(const struct us *us, char *to, uint64_t ticks);

/* The lowest ticks that us_format() prints as so many nanoseconds or more; UINT64_MAX when none are. */
uint64_t us_ticks(const struct us *us, uint64_t ns);

#endif
