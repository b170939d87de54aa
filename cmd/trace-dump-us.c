/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace-dump-us.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "trace-dump-digits.h"

enum {
	NS = 1000000000,
	FAST_BITS = 44, /* ticks below 2^44, an hour and more of them, go by the reciprocal */
};

void us_init(struct us *us, uint64_t rate)
{
	*us = (struct us){.rate = rate};
	/* as many bits as a 64-bit reciprocal can have */
	while (us->shift < 63 && ((unsigned __int128)NS << (us->shift + 1)) / rate < UINT64_MAX)
		us->shift++;
	us->reciprocal = ((unsigned __int128)NS << us->shift) / rate;
}

/* ticks * 10^6 / rate, correctly rounded. */
static double quotient(uint64_t ticks, uint64_t rate)
{
	unsigned __int128 n = (unsigned __int128)ticks * 1000000, q;
	int shift = 0;
	bool rest;

	/* enough bits that what falls off can only decide a tie, and is kept as one lowest bit for that */
	while (n && n >> 127 == 0 && n / rate < (unsigned __int128)1 << 60) {
		n <<= 1;
		shift++;
	}
	q = n / rate;
	rest = n % rate != 0;
	for (; q >> 64; q >>= 1, shift--)
		rest |= q & 1;
	return ldexp((double)((uint64_t)q | rest), -shift);
}

char *us_format(const struct us *us, char *to, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * us->reciprocal;
	uint64_t one = (uint64_t)1 << us->shift, half = one / 2;
	uint64_t ns = product >> us->shift, fraction = product & (one - 1);
	uint64_t distance = fraction > half ? fraction - half : half - fraction;
	/* the product is short by less than ticks, the double off by less than 2^-52 of the value */
	uint64_t doubt = ticks + (uint64_t)(product >> 52) + 1;

	if (ticks >> FAST_BITS || ns >> 50 || distance <= doubt)
		return to + snprintf(to, US_ROOM, "%.3f", quotient(ticks, us->rate));
	ns += fraction > half;
	to = digits_u64(to, ns / 1000);
	ns %= 1000;
	*to = '.';
	to[1] = '0' + ns / 100;
	memcpy(to + 2, digit_pairs + 2 * (ns % 100), 2);
	return to + 4;
}
