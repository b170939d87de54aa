/* SPDX-License-Identifier: BSD-3-Clause */
#include "number.h"

/* So many digits fit 64 bits whatever they are. */
enum { SAFE_DECIMAL = 19, SAFE_HEX = 16 };

bool number_decimal(struct slice s, uint64_t *value)
{
	size_t safe = s.n < SAFE_DECIMAL ? s.n : SAFE_DECIMAL, i;
	uint64_t v = 0;

	for (i = 0; i < safe; i++) {
		unsigned digit = (unsigned char)s.p[i] - '0';

		if (digit > 9)
			return false;
		v = 10 * v + digit;
	}
	for (; i < s.n; i++) {
		unsigned digit = (unsigned char)s.p[i] - '0';

		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	if (s.n)
		*value = v;
	return s.n;
}

bool number_fixed(struct slice s, unsigned decimals, uint64_t *value)
{
	/* looked for where it is as a rule */
	const char *point = s.n > decimals && s.p[s.n - decimals - 1] == '.'
				    ? s.p + s.n - decimals - 1
				    : memchr(s.p, '.', s.n);
	struct slice fraction = {};
	uint64_t v, part = 0;

	if (point) {
		fraction = (struct slice){point + 1, s.p + s.n - point - 1};
		s.n = point - s.p;
		if (fraction.n > decimals || !number_decimal(fraction, &part))
			return false;
	}
	if (!number_decimal(s, &v))
		return false;
	for (unsigned i = 0; i < decimals; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    (i >= fraction.n && __builtin_mul_overflow(part, 10, &part)))
			return false;
	if (__builtin_add_overflow(v, part, &v))
		return false;
	*value = v;
	return true;
}

#define INVALID 16
#define X4(v)   v, v, v, v
#define X16(v)  X4(v), X4(v), X4(v), X4(v)
#define LETTERS INVALID, 10, 11, 12, 13, 14, 15, INVALID, X4(INVALID), X4(INVALID)
#define X64(v)  X16(v), X16(v), X16(v), X16(v)

static const unsigned char hex_digits[256] = {X16(INVALID),
					      X16(INVALID),
					      X16(INVALID),
					      0,
					      1,
					      2,
					      3,
					      4,
					      5,
					      6,
					      7,
					      8,
					      9,
					      INVALID,
					      INVALID,
					      X4(INVALID),
					      LETTERS,
					      X16(INVALID),
					      LETTERS,
					      X16(INVALID),
					      X64(INVALID),
					      X64(INVALID)};

int number_hex_digit(char c)
{
	unsigned digit = hex_digits[(unsigned char)c];

	return digit == INVALID ? -1 : (int)digit;
}

bool number_hex(struct slice s, uint64_t *value)
{
	unsigned invalid = 0;
	uint64_t v = 0;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x') {
		s.p += 2;
		s.n -= 2;
	}
	for (; s.n > SAFE_HEX && *s.p == '0'; s.n--)
		s.p++;
	if (!s.n || s.n > SAFE_HEX)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = hex_digits[(unsigned char)s.p[i]];

		invalid |= digit;
		v = v << 4 | (digit & 15);
	}
	if (invalid & INVALID)
		return false;
	*value = v;
	return true;
}
