/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats numbers faster than printf(), which would take most of a filter's time. */
#pragma once

#include <stdint.h>
#include <string.h>

/*
 * Digits are computed in parallel in a register, the first in the lowest byte, and stored as one
 * word: text that is stored byte by byte and read back as a word would stall on store forwarding.
 * Little-endian.
 */

/* Bytes that each of these functions may write; they return the end of the digits. */
enum { DIGITS_ROOM = 24 };

static const uint64_t digits_ones = 0x0101010101010101;

/* The eight decimal digits of a number below 10^8, each as a number in its byte. */
static inline uint64_t digits_split(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32, tens;

	/* division by 100 and by 10 in all parts at once, exact for numbers of this size */
	tens = (x * 10486 >> 20) & 0x0000007f0000007f;
	x = tens | (x - 100 * tens) << 16;
	tens = (x * 103 >> 10) & 0x000f000f000f000f;
	return tens | (x - 10 * tens) << 8;
}

/* Exactly eight digits. */
static inline char *digits_8(char *to, uint32_t v)
{
	uint64_t text = digits_split(v) + '0' * digits_ones;

	memcpy(to, &text, 8);
	return to + 8;
}

/* A number below 10^8. */
static inline char *digits_short(char *to, uint32_t v)
{
	uint64_t digits = digits_split(v), text = digits + '0' * digits_ones;
	int zeros = digits ? __builtin_ctzll(digits) / 8 : 7;

	text >>= 8 * zeros;
	memcpy(to, &text, 8);
	return to + 8 - zeros;
}

static inline char *digits_u64(char *to, uint64_t v)
{
	const uint64_t e8 = 100000000;

	if (v < 10) {
		*to = '0' + v;
		return to + 1;
	}
	if (v < e8)
		return digits_short(to, v);
	if (v < e8 * e8)
		return digits_8(digits_short(to, v / e8), v % e8);
	to = digits_short(to, v / (e8 * e8));
	v %= e8 * e8;
	return digits_8(digits_8(to, v / e8), v % e8);
}

/* Nanoseconds as microseconds with three decimals: 1500 is 1.500. May write DIGITS_ROOM + 4 bytes. */
static inline char *digits_us(char *to, uint64_t ns)
{
	unsigned decimals = ns % 1000;

	to = digits_u64(to, ns / 1000);
	*to++ = '.';
	*to++ = '0' + decimals / 100;
	*to++ = '0' + decimals / 10 % 10;
	*to++ = '0' + decimals % 10;
	return to;
}

/* Eight hexadecimal digits as text. */
static inline uint64_t digits_hex_8(uint32_t v)
{
	uint64_t x = v, letters;

	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
	letters = (x + 6 * digits_ones) >> 4 & digits_ones;
	return __builtin_bswap64(x + '0' * digits_ones + ('a' - '0' - 10) * letters);
}

/* 0x and the digits in lower case. */
static inline char *digits_hex(char *to, uint64_t v)
{
	int zeros = v ? __builtin_clzll(v) / 4 : 15;
	uint64_t text;

	memcpy(to, "0x", 2);
	to += 2;
	if (zeros < 8) {
		text = digits_hex_8(v >> 32) >> 8 * zeros;
		memcpy(to, &text, 8);
		to += 8 - zeros;
		zeros = 8;
	}
	text = digits_hex_8(v) >> 8 * (zeros - 8);
	memcpy(to, &text, 8);
	return to + 16 - zeros;
}
