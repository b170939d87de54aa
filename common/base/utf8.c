/* SPDX-License-Identifier: BSD-3-Clause */
#include "utf8.h"

#include <stdint.h>
#include <stdlib.h>

#include "count.h"
#include "mem.h"
#include "search.h"

int utf8_length(struct slice s)
{
	const unsigned char *u = (const unsigned char *)s.p;
	unsigned char low = 0x80, high = 0xbf;
	int n;

	if (u[0] < 0x80)
		return 1;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return -1;
	n = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	/* the second byte rules out overlong forms, surrogates, and what is beyond U+10FFFF */
	if (u[0] == 0xe0)
		low = 0xa0;
	else if (u[0] == 0xed)
		high = 0x9f;
	else if (u[0] == 0xf0)
		low = 0x90;
	else if (u[0] == 0xf4)
		high = 0x8f;
	for (int i = 1; i < n; i++) {
		if ((size_t)i >= s.n || u[i] < low || u[i] > high)
			return -i;
		low = 0x80;
		high = 0xbf;
	}
	return n;
}

typedef uint64_t vector __attribute__((vector_size(16), may_alias));

enum { VECTORS = 8, BLOCK = VECTORS * sizeof(vector) };

/* Whether whole blocks are ASCII; p is aligned. All input of most filters passes here, a vector by one instruction. */
static bool blocks_are_ascii(const char *p, const char *end)
{
	vector tops[VECTORS] = {};

	for (; p < end; p += BLOCK)
#pragma GCC unroll 8
		for (unsigned i = 0; i < VECTORS; i++)
			tops[i] |= ((const vector *)p)[i];
	for (unsigned i = 1; i < VECTORS; i++)
		tops[0] |= tops[i];
	return !((tops[0][0] | tops[0][1]) & 0x8080808080808080);
}

bool utf8_is_ascii(struct slice s)
{
	const char *p = s.p, *end = s.p + s.n;
	size_t head = -(uintptr_t)p % sizeof(vector), blocks;
	uint64_t word, tops = 0;

	if (s.n < sizeof(word)) {
		for (size_t i = 0; i < s.n; i++)
			tops |= (unsigned char)s.p[i];
		return !(tops & 0x80);
	}
	if (s.n >= sizeof(vector) + BLOCK) {
		blocks = (s.n - head) / BLOCK * BLOCK;
		if (!blocks_are_ascii(p + head, p + head + blocks) || !utf8_is_ascii((struct slice){p, head}))
			return false;
		p += head + blocks;
	}
	for (; end - p > (ptrdiff_t)sizeof(word); p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		tops |= word;
	}
	/* the last word may have bytes of the one before */
	memcpy(&word, end - sizeof(word), sizeof(word));
	return !((tops | word) & 0x8080808080808080);
}

bool utf8_is_valid(struct slice s)
{
	while (s.n) {
		uint64_t word = 0x80;
		int length = sizeof(word);

		if (s.n >= sizeof(word))
			memcpy(&word, s.p, sizeof(word));
		if (word & 0x8080808080808080)
			length = utf8_length(s);
		if (length < 0)
			return false;
		slice_cut(&s, length);
	}
	return true;
}

/* The code point of a character of this length. */
static unsigned decode(struct slice s, int length)
{
	const unsigned char *u = (const unsigned char *)s.p;
	unsigned point = length == 1 ? u[0] : u[0] & 0x7f >> length;

	for (int i = 1; i < length; i++)
		point = point << 6 | (u[i] & 0x3f);
	return point;
}

/* Whether a character does something else than being seen: control characters, and those that hide or reorder text. */
static bool is_control(unsigned point)
{
	static const struct {
		unsigned first, last;
	} ranges[] = {
		{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},     {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f},
	};
	size_t i = search_first(r, COUNT(ranges), ranges[r].last >= point);

	return i < COUNT(ranges) && ranges[i].first <= point;
}

size_t utf8_plain(struct slice s)
{
	const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
	size_t n;

	for (n = 0; s.n - n >= 8; n += 8) {
		uint64_t w, slash;

		memcpy(&w, s.p + n, 8);
		slash = w ^ ones * '\\';
		/* sets the top bit of bytes that are not plain, and of some that follow one */
		if ((w | (w - ones * 0x20) | (w + ones) | (slash - ones)) & tops)
			break;
	}
	while (n < s.n && s.p[n] >= 0x20 && s.p[n] < 0x7f && s.p[n] != '\\')
		n++;
	return n;
}

char *utf8_visible(char *to, struct slice s)
{
	static const char hex[] = "0123456789abcdef";

	while (s.n) {
		size_t n = utf8_plain(s);
		int length;
		bool visible;

		to = mempcpy(to, slice_cut(&s, n).p, n);
		if (!s.n)
			break;
		length = utf8_length(s);
		visible = length > 0 && !is_control(decode(s, length));
		for (int i = length < 0 ? -length : length; i > 0; i--, s.p++, s.n--) {
			if (visible) {
				*to++ = *s.p;
				continue;
			}
			*to++ = '\\';
			*to++ = 'x';
			*to++ = hex[(unsigned char)*s.p >> 4];
			*to++ = hex[*s.p & 15];
		}
	}
	return to;
}

struct slice utf8_piece(struct slice s, size_t max)
{
	enum { LONGEST = 4 };
	size_t n = max;

	if (s.n <= max)
		return s;
	while (n > max - LONGEST && utf8_continues(s.p[n]))
		n--;
	/* no character has that many continuation bytes */
	return (struct slice){s.p, n > max - LONGEST ? n : max};
}

const char *utf8_ellipsis(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;

	for (size_t i = 0; i < COUNT(variables) && !(locale && *locale); i++)
		locale = getenv(variables[i]);
	return locale && (strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8")) ? UTF8_ELLIPSIS : "~";
}

char *utf8_shorten(char *text, size_t n, size_t width)
{
	/* the ends tell names apart: of states, hosts and files */
	size_t head = width / 4 ? width / 4 : 1, tail = width - head - 1;
	const char *ellipsis = utf8_ellipsis();
	char *from = text, *to = text + n;

	while (head) {
		from++;
		head -= !utf8_continues(*from);
	}
	while (tail)
		tail -= !utf8_continues(*--to);
	n -= to - text;
	memmove(from + strlen(ellipsis), to, n);
	return (char *)mempcpy(from, ellipsis, strlen(ellipsis)) + n;
}

char *utf8_visible_copy(const char *text)
{
	char *copy = mem_array(UTF8_VISIBLE(strlen(text)) + 1, 1);

	utf8_visible(copy, slice_of(text));
	return copy;
}

char *utf8_encode(char *to, unsigned point)
{
	if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		point = 0xfffd;
	if (point < 0x80) {
		*to++ = point;
	} else if (point < 0x800) {
		*to++ = 0xc0 | point >> 6;
		*to++ = 0x80 | (point & 0x3f);
	} else if (point < 0x10000) {
		*to++ = 0xe0 | point >> 12;
		*to++ = 0x80 | (point >> 6 & 0x3f);
		*to++ = 0x80 | (point & 0x3f);
	} else {
		*to++ = 0xf0 | point >> 18;
		*to++ = 0x80 | (point >> 12 & 0x3f);
		*to++ = 0x80 | (point >> 6 & 0x3f);
		*to++ = 0x80 | (point & 0x3f);
	}
	return to;
}
