/* SPDX-License-Identifier: BSD-3-Clause */
#include "number.h"

/* Any number of this many digits fits 64 bits. */
enum { SAFE_DECIMAL = 19, SAFE_HEX = 16 };

enum { WORD = 8 };

static uint64_t word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Reads 8 to 16 digits, as two words. */
static bool words_decimal(struct slice s, uint64_t *value)
{
	uint64_t first = word_at(s.p), last = word_at(s.p + s.n - WORD);

	if (number_count(first) < WORD || number_count(last) < WORD)
		return false;
	/* the last word has some digits of the first one */
	*value = s.n > WORD ? number_word(first, s.n - WORD) * 100000000 : 0;
	*value += number_word(last, WORD);
	return true;
}

/* Reads 4 to 7 digits, as one word of two parts that overlap. */
static bool word_decimal(struct slice s, uint64_t *value)
{
	uint32_t first, last;
	uint64_t word;

	memcpy(&first, s.p, sizeof(first));
	memcpy(&last, s.p + s.n - sizeof(last), sizeof(last));
	word = first | (uint64_t)last << 8 * (s.n - sizeof(last));
	if (number_count(word) < s.n)
		return false;
	*value = number_word(word, s.n);
	return true;
}

bool number_decimal(struct slice s, uint64_t *value)
{
	uint64_t v = 0;

	if (s.n >= WORD && s.n <= 2 * WORD)
		return words_decimal(s, value);
	if (s.n >= WORD / 2 && s.n < WORD)
		return word_decimal(s, value);
	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = (unsigned char)s.p[i] - '0';

		if (digit > 9)
			return false;
		if (i < SAFE_DECIMAL)
			v = 10 * v + digit;
		else if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
			return false;
	}
	if (s.n)
		*value = v;
	return s.n;
}

bool number_fixed(struct slice s, unsigned decimals, uint64_t *value)
{
	struct slice fraction = {};
	uint64_t v, part = 0;
	const char *point;

	/* p may be NULL, which memchr() does not allow */
	if (!s.n)
		return false;
	/* usually there are as many decimals as allowed */
	point = s.n > decimals && s.p[s.n - decimals - 1] == '.' ? s.p + s.n - decimals - 1 : memchr(s.p, '.', s.n);
	if (point) {
		fraction = slice_between(point + 1, s.p + s.n);
		s = slice_between(s.p, point);
		if (fraction.n > decimals || !number_decimal(fraction, &part))
			return false;
	}
	if (!number_decimal(s, &v))
		return false;
	for (unsigned i = 0; i < decimals; i++)
		if (__builtin_mul_overflow(v, 10, &v) || (i >= fraction.n && __builtin_mul_overflow(part, 10, &part)))
			return false;
	if (__builtin_add_overflow(v, part, &v))
		return false;
	*value = v;
	return true;
}

enum { VALID = 16 };

/* The value of a hexadecimal digit with VALID; 0 for any other byte. */
#define LETTERS(a) [a] = 26, [a + 1] = 27, [a + 2] = 28, [a + 3] = 29, [a + 4] = 30, [a + 5] = 31
static const unsigned char hex_digits[256] = {
	LETTERS('a'), LETTERS('A'), ['0'] = 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
};

int number_hex_digit(char c)
{
	unsigned digit = hex_digits[(unsigned char)c];

	return digit ? (int)(digit & 15) : -1;
}

bool number_hex(struct slice s, uint64_t *value)
{
	unsigned valid = VALID;
	uint64_t v = 0;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x')
		s = slice_from(s, 2);
	for (; s.n > SAFE_HEX && *s.p == '0'; s.n--)
		s.p++;
	if (!s.n || s.n > SAFE_HEX)
		return false;
	if (s.n >= WORD) {
		uint64_t first = word_at(s.p), last = word_at(s.p + s.n - WORD);

		/* the last word has some digits of the first one */
		if (number_hex_count(first) == WORD && number_hex_count(last) == WORD) {
			*value = number_hex_word(first, WORD) << 4 * (s.n - WORD) | number_hex_word(last, WORD);
			return true;
		}
	}
	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = hex_digits[(unsigned char)s.p[i]];

		valid &= digit;
		v = v << 4 | (digit & 15);
	}
	if (!valid)
		return false;
	*value = v;
	return true;
}
