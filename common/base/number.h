/* SPDX-License-Identifier: BSD-3-Clause */
/* Strict reading of unsigned 64-bit numbers: the whole slice, no sign, no blanks, no overflow. */
#pragma once

#include <stdint.h>

#include "slice.h"

/* These return whether s is such a number; *value is set only then. */
bool number_decimal(struct slice s, uint64_t *value);

/* Hexadecimal in either case, with or without 0x before it. */
bool number_hex(struct slice s, uint64_t *value);

/* With up to this many decimals, as an integer in units of the last one: 1.5 is 1500 for 3. */
bool number_fixed(struct slice s, unsigned decimals, uint64_t *value);

/* The value of a hexadecimal digit, or -1. */
int number_hex_digit(char c);

/*
 * Decimal digits of a word, the first in its lowest byte, are read in parallel: one by one, reading a number would cost
 * more than using it.
 */

/* The number of decimal digits that the word starts with. */
static inline unsigned number_count(uint64_t word)
{
	uint64_t digits = word ^ 0x3030303030303030, others;

	/* sets the top bit of bytes that are not 0 to 9, and of some after one */
	others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
	return others ? __builtin_ctzll(others) / 8 : 8;
}

/* The value of its first n digits: 1 to 8. */
static inline uint64_t number_word(uint64_t word, unsigned n)
{
	word <<= 64 - 8 * n;
	word = (word & 0x0f0f0f0f0f0f0f0f) * (10 << 8 | 1) >> 8;
	word = (word & 0x00ff00ff00ff00ff) * (100ULL << 16 | 1) >> 16;
	return (word & 0x0000ffff0000ffff) * (10000ULL << 32 | 1) >> 32;
}

/* The number of hexadecimal digits that the word starts with, in lower case. */
static inline unsigned number_hex_count(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101, tops = ones * 0x80;
	uint64_t digit = word ^ ones * '0', letter = word ^ ones * 0x60, others;

	/* the top bit of bytes that are not 0 to 9, and of those that are not 1 to 6; and of some after one */
	others = (((digit + ones * 0x76) & ((letter + ones * 0x79) | ~(letter + ones * 0x7f))) | word) & tops;
	return others ? __builtin_ctzll(others) / 8 : 8;
}

/* The value of its first n digits: 0 to 8. */
static inline uint64_t number_hex_word(uint64_t word, unsigned n)
{
	const uint64_t ones = 0x0101010101010101;

	word = n ? word << (64 - 8 * n) : 0;
	word = __builtin_bswap64((word & ones * 15) + 9 * (word >> 6 & ones));
	word = (word | word >> 4) & 0x00ff00ff00ff00ff;
	word = (word | word >> 8) & 0x0000ffff0000ffff;
	return (word | word >> 16) & 0xffffffff;
}
