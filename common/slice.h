/* SPDX-License-Identifier: BSD-3-Clause */
/* A stretch of bytes that belongs to somebody else; not NUL-terminated. */
#ifndef SLICE_H
#define SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "only for little-endian machines: SPDK's traces are read as they are in memory, and digits are made in words"
#endif

struct slice {
	const char *p;
	size_t n;
};

static inline struct slice slice_of(const char *text)
{
	return (struct slice){text, strlen(text)};
}

static inline bool slice_equal(struct slice a, struct slice b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* With a literal as text the compiler knows its length. */
static inline bool slice_is(struct slice s, const char *text)
{
	return slice_equal(s, slice_of(text));
}

#endif
