/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that the slice does not own; not NUL-terminated. */
#pragma once

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

/* The text in an array, which has a NUL only if it is shorter. */
static inline struct slice slice_of_array(const char *array, size_t size)
{
	return (struct slice){array, strnlen(array, size)};
}

/* The same of an array whose size the compiler knows. */
#define SLICE_ARRAY(array) slice_of_array(array, sizeof(array))

static inline bool slice_equal(struct slice a, struct slice b)
{
	/* an empty one may have no p */
	return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

/* The slice without its first n bytes; n is at most its length. */
static inline struct slice slice_from(struct slice s, size_t n)
{
	return (struct slice){s.p + n, s.n - n};
}

/* Cuts off its first n bytes, and returns them. */
static inline struct slice slice_cut(struct slice *s, size_t n)
{
	struct slice first = {s->p, n};

	*s = slice_from(*s, n);
	return first;
}

/* Cuts off the first character if it is c; else returns false. */
static inline bool slice_skip(struct slice *s, char c)
{
	if (!s->n || *s->p != c)
		return false;
	*s = slice_from(*s, 1);
	return true;
}

/* Cuts off the first line of a text that is not empty, and returns it without its line feed. */
static inline struct slice slice_cut_line(struct slice *text)
{
	const char *end = memchr(text->p, '\n', text->n);
	struct slice line = slice_cut(text, end ? (size_t)(end - text->p) : text->n);

	slice_cut(text, end ? 1 : 0);
	return line;
}

/* The bytes from one place up to another. */
static inline struct slice slice_between(const char *from, const char *to)
{
	return (struct slice){from, to - from};
}

/* Orders by the bytes; a slice comes before those that start with it. */
static inline int slice_compare(struct slice a, struct slice b)
{
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* With a literal as text the compiler knows its length. */
static inline bool slice_is(struct slice s, const char *text)
{
	return slice_equal(s, slice_of(text));
}

/* Ditto. */
static inline bool slice_starts(struct slice s, const char *text)
{
	return s.n >= strlen(text) && memcmp(s.p, text, strlen(text)) == 0;
}

static inline bool slice_ends(struct slice s, const char *text)
{
	size_t n = strlen(text);

	return s.n >= n && memcmp(s.p + s.n - n, text, n) == 0;
}
