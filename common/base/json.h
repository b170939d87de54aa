/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pull reader for JSON text (RFC 8259), which returns slices of it, and a writer of strings.
 *
 * The caller walks the text with the calls below; each consumes what it returns. The first error
 * sticks: from then on every call returns false, so a loop needs one check of `error` after it.
 * Numbers stay text until the caller wants an integer, so 64-bit values survive. Every byte of a
 * consumed value is checked, except that strings may hold invalid UTF-8 (json_quote() replaces it).
 *
 *	json_init(&j, text, n);
 *	for (json_object(&j); json_key(&j, &key);)
 *		if (json_is(key, "tsc"))
 *			json_u64(&j, &tsc);
 *		else
 *			json_skip(&j);
 *	if (!json_end(&j))
 *		report(j.error);
 */
#pragma once

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "slice.h"

struct json {
	const char *p, *end;
	const char *error; /* NULL, or what is wrong at p */
	/* more text could change the result: the text ended too early, or right after a number */
	bool cut_off;
	bool first; /* nothing of the innermost container has been consumed yet */
};

void json_init(struct json *j, const char *text, size_t n);

/*
 * Reports an error at p, in text that the grammar allows but the caller does not. Returns false.
 */
bool json_fail(struct json *j, const char *error);

/* The next value's type: its first character, '0' for any number; 0 when there is no value. */
char json_peek(struct json *j);

/* Steps into the value, which must be an object or an array. */
bool json_object(struct json *j);
bool json_array(struct json *j);

/* The next key, as written between its quotes; its value comes next. False at the end. */
bool json_key(struct json *j, struct slice *key);

/* Whether the array has another element, which then comes next. */
bool json_element(struct json *j);

/* A string, as it is written between its quotes. */
bool json_string(struct json *j, struct slice *raw);

/* A number, as it is written. */
bool json_number(struct json *j, struct slice *raw);

/* A number without sign, fraction and exponent that fits 64 bits; anything else is an error. */
bool json_u64(struct json *j, uint64_t *value);

bool json_bool(struct json *j, bool *value);

/* Any value, checked to its end. */
bool json_skip(struct json *j);
bool json_value(struct json *j, struct slice *raw);

/* True when there was no error and only white space is left. */
bool json_end(struct json *j);

/* Cuts off lines until the first one that is a JSON object. Returns false if no line is one. */
bool json_line(struct slice *text, struct slice *line);

/* Whether a raw string or key equals this text, however it is escaped. */
bool json_is(struct slice raw, const char *text);

/*
 * The value of an object's first member of this name, as written; empty without one, or if the text is not an
 * object. For text that was checked before, such as what json_value() returned.
 *
 *	json_unquoted(json_member(value, slice_of("hostnqn")))
 */
struct slice json_member(struct slice object, struct slice name);

/* The same at a path of names with dots between them, such as qpair.hostnqn. */
struct slice json_path(struct slice object, struct slice path);

/* A string, as it is written between its quotes; any other value as it is. */
struct slice json_unquoted(struct slice value);

/*
 * Decodes a raw string into to, which has room for raw.n bytes or more, and returns the number of
 * bytes written. Surrogates without a partner become U+FFFD; \u0000 becomes a NUL byte.
 */
size_t json_unescape(char *to, struct slice raw);

/*
 * Copies valid JSON text to `to`, which has room for text.n bytes or more, with each character in the form of
 * json_quote(), so that equal strings have equal bytes. Returns the number of bytes written.
 */
size_t json_normalize(char *to, struct slice text);

/* The decoded string with a NUL after it. The caller frees its p. */
struct slice json_decode(struct slice raw);

/*
 * Writes the bytes as a JSON string with its quotes, which takes at most JSON_QUOTED(n) bytes, and
 * returns the end. Invalid UTF-8 becomes U+FFFD, one for each maximal part of a character.
 */
#define JSON_QUOTED(n) (6 * (n) + 2)
char *json_quote(char *to, struct slice bytes);

/* The same without the quotes, for a string that is written in pieces; see utf8_piece(). */
char *json_escape(char *to, struct slice bytes);

/* The first byte that a string must escape: a quote, a backslash, a control character; or end. */
static inline const char *json_plain(const char *p, const char *end)
{
	const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;

#ifdef __SSE2__
	const __m128i control = _mm_set1_epi8(0x1f), quotes = _mm_set1_epi8('"'), slashes = _mm_set1_epi8('\\');

	for (; end - p >= 16; p += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)p), found;

		found = _mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, slashes));
		found = _mm_or_si128(found, _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
		if (_mm_movemask_epi8(found))
			return p + __builtin_ctz(_mm_movemask_epi8(found));
	}
#endif
	for (; end - p >= 8; p += 8) {
		uint64_t w, quote, slash;

		memcpy(&w, p, 8);
		/* a quote becomes a blank, and a blank something else */
		quote = w ^ ones * ('"' ^ ' ');
		slash = w ^ ones * '\\';
		/* sets the top bit of bytes up to a blank, and of those that are 0; never of those from 0x80 on */
		w = (((quote - ones * 0x21) & ~quote) | ((slash - ones) & ~slash)) & tops;
		if (w)
			return p + __builtin_ctzll(w) / 8;
	}
	while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
		p++;
	return p;
}
