/* SPDX-License-Identifier: BSD-3-Clause */
#include "number.h"

bool number_decimal(struct slice s, uint64_t *value)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, s.p[i] - '0', &v))
			return false;
	if (s.n)
		*value = v;
	return s.n;
}

bool number_hex(struct slice s, uint64_t *value)
{
	uint64_t v = 0;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x') {
		s.p += 2;
		s.n -= 2;
	}
	for (size_t i = 0; i < s.n; i++) {
		int digit = number_hex_digit(s.p[i]);

		if (digit < 0 || v >> 60)
			return false;
		v = v << 4 | digit;
	}
	if (s.n)
		*value = v;
	return s.n;
}
