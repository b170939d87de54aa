/* SPDX-License-Identifier: BSD-3-Clause */
#include "big.h"

void big_write(struct out *out, unsigned __int128 value)
{
	char digits[40], *p = digits + sizeof(digits);

	do
		*--p = '0' + (char)(value % 10);
	while (value /= 10);
	out_bytes(out, p, digits + sizeof(digits) - p);
}

bool big_read(struct json *j, unsigned __int128 max, unsigned __int128 *value)
{
	struct slice raw;

	*value = 0;
	if (!json_number(j, &raw))
		return false;
	for (size_t i = 0; i < raw.n; i++)
		if (raw.p[i] < '0' || raw.p[i] > '9' || __builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, raw.p[i] - '0', value) || *value > max)
			return json_fail(j, "a number is no integer, or too large");
	return true;
}
