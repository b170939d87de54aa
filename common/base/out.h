/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered output with one write(2) per large block. The first error sticks: later output is
 * discarded, so a loop may check `error` at any time, and main reports it once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct out {
	int fd;    /* OUT_MEMORY: none */
	int error; /* errno of the first write that failed, else 0 */
	char *buf;
	size_t len, cap;
};

void out_open(struct out *o, int fd);

/*
 * With this fd, and all else zero, output of any length stays in memory. out_contents() returns it, valid until the
 * next write; out_close() frees it.
 */
enum { OUT_MEMORY = -1 };

/* Starts such output again. */
static inline struct out *out_start(struct out *o)
{
	o->fd = OUT_MEMORY;
	o->len = 0;
	return o;
}

static inline struct slice out_contents(const struct out *o)
{
	return (struct slice){o->buf, o->len};
}

/* Flushes and frees the buffer; the descriptor stays open. Returns 0, or -1 with errno. */
int out_close(struct out *o);

int out_flush(struct out *o);

/* Slow path of out_room(). */
char *out_make_room(struct out *o, size_t n);

/*
 * Room for n bytes: the caller fills it, then passes the end to out_commit(). For inner loops that write a line piece
 * by piece; elsewhere the functions below need no bound.
 */
static inline char *out_room(struct out *o, size_t n)
{
	return o->cap - o->len >= n ? o->buf + o->len : out_make_room(o, n);
}

static inline void out_commit(struct out *o, const char *end)
{
	o->len = end - o->buf;
}

/* Slow path of out_bytes(). */
void out_many_bytes(struct out *o, const void *p, size_t n);

static inline void out_bytes(struct out *o, const void *p, size_t n)
{
	if (n > o->cap - o->len) {
		out_many_bytes(o, p, n);
	} else if (n) {
		memcpy(o->buf + o->len, p, n);
		o->len += n;
	}
}

static inline void out_slice(struct out *o, struct slice s)
{
	out_bytes(o, s.p, s.n);
}

static inline void out_text(struct out *o, const char *text)
{
	out_bytes(o, text, strlen(text));
}

static inline void out_char(struct out *o, char c)
{
	*out_room(o, 1) = c;
	o->len++;
}

/* A JSON string with its quotes; see json_quote(). */
void out_json(struct out *o, struct slice bytes);

/* The bytes, with U+FFFD for each sequence that is not valid UTF-8. */
void out_utf8(struct out *o, struct slice bytes);

/* As a terminal may show it; see utf8_visible(). Returns the number of bytes written. */
size_t out_visible(struct out *o, struct slice bytes);

/* The same for a string as it is written in JSON, without its quotes. */
void out_visible_json(struct out *o, struct slice raw);

/* The same, with \xHH also for each of these ASCII characters. */
void out_escaped(struct out *o, struct slice bytes, const char *also);

/* A path as a word of a command that a user may paste into a shell, quoted if need be; never an option. */
void out_word(struct out *o, struct slice path);

/* As text of XML and HTML, with entities for characters that mean something there. */
void out_xml(struct out *o, struct slice text);

/* As out_visible(), padded with blanks to the width, and one more blank; "-" if it is empty. */
void out_column(struct out *o, struct slice bytes, size_t width);

/*
 * As out_visible(), in at most this many characters (3 or more): shortened in the middle, where an ellipsis stands for
 * what is left out. Returns the number of characters.
 */
size_t out_short(struct out *o, struct slice bytes, size_t width);

/* As out_short(), padded with blanks to the width; "-" if it is empty. */
void out_shortened(struct out *o, struct slice bytes, size_t width);

/* The length of the escape sequence, such as a colour, at the start of s; 0 if s starts with other text. */
size_t out_escape_length(struct slice s);

/*
 * A line of valid UTF-8, for terminals, in at most this many characters (2 or more): a longer one ends in an ellipsis.
 * Escape sequences are no characters; all of them are written.
 */
void out_clipped(struct out *o, struct slice line, size_t width);

void out_u64(struct out *o, uint64_t v);

/* With 0x before it. */
void out_hex(struct out *o, uint64_t v);

/* Nanoseconds as microseconds with three decimals: 1500 is 1.500. */
void out_us(struct out *o, uint64_t ns);

/*
 * Nanoseconds for people: three digits and the unit that fits, as in 1.50 us and 48.3 ms, aligned to the right in
 * OUT_DURATION characters. From 100000 seconds on it is wider.
 */
enum { OUT_DURATION = 7 };
void out_duration(struct out *o, uint64_t ns);

/* The same without blanks before it, for sentences. */
void out_duration_text(struct out *o, uint64_t ns);

void out_printf(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
