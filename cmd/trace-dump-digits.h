/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing numbers where a printf for each would cost more than all the rest. */
#ifndef TRACE_DUMP_DIGITS_H
#define TRACE_DUMP_DIGITS_H

#include <stdint.h>
#include <string.h>

static const char digit_pairs[] = "0001020304050607080910111213141516171819202122232425262728293031"
				  "323334353637383940414243444546474849"
				  "5051525354555657585960616263646566676869707172737475767778798081"
				  "828384858687888990919293949596979899";

/* Writes exactly eight digits. */
static inline char *digits_8(char *to, uint32_t v)
{
	uint32_t high = v / 10000, low = v % 10000;

	memcpy(to, digit_pairs + 2 * (high / 100), 2);
	memcpy(to + 2, digit_pairs + 2 * (high % 100), 2);
	memcpy(to + 4, digit_pairs + 2 * (low / 100), 2);
	memcpy(to + 6, digit_pairs + 2 * (low % 100), 2);
	return to + 8;
}

enum {
	DIGITS_ROOM = 24
}; /* bytes that each of these may write; they return the end of the digits */

static inline char *digits_u64(char *to, uint64_t v)
{
	/* the digits end in the middle, so that a fixed length can be copied, which is faster */
	char all[2 * DIGITS_ROOM], *end = all + DIGITS_ROOM, *p = end;

	while (v >= 100) {
		p -= 2;
		memcpy(p, digit_pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	p -= 2;
	memcpy(p, digit_pairs + 2 * v, 2);
	p += v < 10;
	memcpy(to, p, DIGITS_ROOM);
	return to + (end - p);
}

static inline char *digits_hex(char *to, uint64_t v)
{
	static const char hex[] = "0123456789abcdef";
	int bits = v ? (63 - __builtin_clzll(v)) & ~3 : 0;

	*to++ = '0';
	*to++ = 'x';
	for (; bits >= 0; bits -= 4)
		*to++ = hex[v >> bits & 15];
	return to;
}

#endif
