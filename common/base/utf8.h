/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "slice.h"

/*
 * The length of the character that s starts with: 1 to 4; or, when its bytes are not valid UTF-8,
 * minus the length of the part that could start one (Unicode's "maximal subpart"). s is not empty.
 */
int utf8_length(struct slice s);

/* Whether no byte is above 0x7f: then s is valid UTF-8, and each byte is a character. */
bool utf8_is_ascii(struct slice s);

bool utf8_is_valid(struct slice s);

/* Whether a byte is part of a character, but not its first one. */
static inline bool utf8_continues(char c)
{
	return (c & 0xc0) == 0x80;
}

/* The number of characters; s is valid UTF-8. */
static inline size_t utf8_count(struct slice s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += !utf8_continues(s.p[i]);
	return n;
}

/* The number of leading bytes that are printable ASCII but no backslash: they are the same in every form. */
size_t utf8_plain(struct slice s);

/*
 * Writes the bytes as a terminal may show them, and returns the end: each byte of a control character (C0, DEL, C1), of
 * one that hides or reorders text, and of invalid UTF-8 becomes \xHH. Takes at most UTF8_VISIBLE(n) bytes.
 */
#define UTF8_VISIBLE(n) (4 * (n))
char *utf8_visible(char *to, struct slice bytes);

/* The first bytes of s, at most max (4 or more), cut between two characters. */
struct slice utf8_piece(struct slice s, size_t max);

/*
 * Shortens valid UTF-8 that has more than `width` characters (3 or more) to as many, in its place, with an ellipsis for
 * what is left out in the middle. Returns its end. One more byte may be written than the text has.
 */
char *utf8_shorten(char *text, size_t n, size_t width);

/* What stands for text that is left out: one character, of ASCII unless the locale has UTF-8. */
const char *utf8_ellipsis(void);

/* A copy in the form of utf8_visible(), with a NUL; the caller frees it. */
char *utf8_visible_copy(const char *text);

/* Writes a code point, 4 bytes at most; U+FFFD for one that UTF-8 cannot encode. Returns the end. */
char *utf8_encode(char *to, unsigned point);

#define UTF8_REPLACEMENT "\xef\xbf\xbd"
#define UTF8_ELLIPSIS    "\xe2\x80\xa6"
