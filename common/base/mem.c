/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void *check(void *p)
{
	if (!p)
		err(EXIT_FAILURE, NULL);
	return p;
}

void *mem_array(size_t n, size_t size)
{
	return check(calloc(n ? n : 1, size));
}

void *mem_resize(void *p, size_t n, size_t size)
{
	return check(reallocarray(p, n ? n : 1, size));
}

char *mem_copy(struct slice s)
{
	char *copy = check(malloc(s.n + 1));

	if (s.n)
		memcpy(copy, s.p, s.n);
	copy[s.n] = 0;
	return copy;
}

char *mem_printf(const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	return check(n < 0 ? NULL : text);
}

void *mem_grow(void *p, size_t *cap, size_t size)
{
	*cap = *cap ? 2 * *cap : 4;
	return mem_resize(p, *cap, size);
}
