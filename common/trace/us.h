/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ticks as microseconds with three decimals: what Python prints for '%.3f' % (ticks * 10**6 /
 * rate), that is, the quotient rounded to a double and that rounded to decimals, for every 64-bit
 * number of ticks.
 *
 * One multiplication by the reciprocal gives nanoseconds and fraction. Only if the fraction is so
 * close to one half that product and double may be rounded differently, an exact division decides.
 */
#pragma once

#include <stdint.h>

struct us {
	uint64_t rate;       /* ticks per second */
	uint64_t limit;      /* the reciprocal is used for fewer ticks */
	uint64_t reciprocal; /* nanoseconds per tick, times 2^(64 - shift) */
	unsigned shift;
};

enum { US_ROOM = 32 }; /* bytes that us_format() may write */

/* The rate must not be 0. */
void us_init(struct us *us, uint64_t rate);

/* Writes the microseconds and returns the end. */
char *us_format(const struct us *us, char *to, uint64_t ticks);

/* What us_format() prints, in nanoseconds; UINT64_MAX if it does not fit. */
uint64_t us_ns(const struct us *us, uint64_t ticks);

/*
 * The lowest number of ticks that us_format() prints as this many nanoseconds or more; UINT64_MAX
 * if there is none.
 */
uint64_t us_ticks(const struct us *us, uint64_t ns);
