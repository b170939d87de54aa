/* SPDX-License-Identifier: BSD-3-Clause */
#include "us.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "digits.h"
#include "search.h"

enum {
	NS = 1000000000,
	FAST_BITS = 44, /* the reciprocal may be used for ticks below 2^44, more than an hour */
};

void us_init(struct us *us, uint64_t rate)
{
	*us = (struct us){.rate = rate};
	/* as many bits as a 64-bit reciprocal can have */
	while (((unsigned __int128)NS << (64 - us->shift)) / rate > UINT64_MAX)
		us->shift++;
	us->reciprocal = ((unsigned __int128)NS << (64 - us->shift)) / rate;
	us->limit = us->shift < 64 - FAST_BITS ? (uint64_t)1 << FAST_BITS : 0;
}

/* ticks * 10^6 / rate, correctly rounded. */
static double quotient(uint64_t ticks, uint64_t rate)
{
	unsigned __int128 n = (unsigned __int128)ticks * 1000000, q;
	int shift = 0;
	bool rest;

	/* enough bits that the rest can only decide a tie: it is kept as the lowest bit */
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

/* The nanoseconds by the reciprocal. False if that may round them differently. */
static inline bool find_ns(const struct us *us, uint64_t ticks, uint64_t *rounded)
{
	uint64_t scaled = ticks << us->shift, ns, fraction, distance, doubt;
	unsigned __int128 product = (unsigned __int128)scaled * us->reciprocal;

	ns = product >> 64;
	fraction = product;
	distance = fraction >> 63 ? fraction << 1 >> 1 : ((uint64_t)1 << 63) - fraction;
	/* bounds of what the product lacks, and of the double's error: 2^-52 of the value */
	doubt = scaled + (ns << 12) + 1;
	*rounded = ns + (fraction >> 63);
	return ticks < us->limit && !(ns >> 50) && distance > doubt;
}

uint64_t us_ns(const struct us *us, uint64_t ticks)
{
	char text[US_ROOM], *end;
	uint64_t ns;

	if (find_ns(us, ticks, &ns))
		return ns;
	ns = 0;
	end = us_format(us, text, ticks);
	for (const char *p = text; p < end; p++)
		if (*p != '.' && (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, *p - '0', &ns)))
			return UINT64_MAX;
	return ns;
}

uint64_t us_ticks(const struct us *us, uint64_t ns)
{
	return search_first(ticks, UINT64_MAX, us_ns(us, ticks) >= ns);
}

char *us_format(const struct us *us, char *to, uint64_t ticks)
{
	uint64_t ns;

	if (find_ns(us, ticks, &ns))
		return digits_us(to, ns);
	return to + snprintf(to, US_ROOM, "%.3f", quotient(ticks, us->rate));
}
