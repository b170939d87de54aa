/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a trace line as columns of text, for text.c and for the short form. Columns count characters, as Python does.
 */
#pragma once

#include "out.h"
#include "traceline.h"
#include "utf8.h"

/*
 * A line that is being written, at p. There is room for all that is in the trace line; anything else goes through
 * textline_other().
 */
struct textline {
	struct out *out;
	size_t room;
	size_t spare; /* of the room, for textline_other() */
	char *p;
	unsigned width; /* characters since the column started */
	size_t column;  /* where in out.buf it started; for textline_shorten() */
};

enum {
	TEXTLINE_PAD = 32,   /* at least the width of any column; textline_pad() may write as many bytes */
	TEXTLINE_US = 320,   /* the longest double has 309 digits before the point */
	TEXTLINE_SPARE = 512 /* bytes */
};

/* Starts a line of n bytes, with room for punctuation around its arguments, and for columns. */
struct textline textline_start(struct out *out, const struct traceline *line, size_t n);

/* Removes blanks at its end, and adds a newline. */
void textline_end(struct textline *t);

/* Starts a column. */
static inline void textline_column(struct textline *t)
{
	t->width = 0;
	t->column = t->p - t->out->buf;
}

static inline void textline_put(struct textline *t, struct slice s)
{
	t->p = mempcpy(t->p, s.p, s.n);
	t->width += s.n;
}

static inline void textline_text(struct textline *t, const char *s)
{
	textline_put(t, slice_of(s));
}

/* Fills the column with blanks. */
static inline void textline_pad(struct textline *t, unsigned width)
{
	if (t->width >= width)
		return;
	/* a constant length compiles to two stores; the excess is overwritten */
	memset(t->p, ' ', TEXTLINE_PAD);
	t->p += width - t->width;
	t->width = width;
}

/* Shortens a column in the middle that has more than `width` characters (3 or more). Its line is in memory. */
void textline_shorten(struct textline *t, unsigned width);

/* Text that is not from the trace line, of any length. Not counted in the width. */
void textline_other(struct textline *t, struct slice s);

/* Slow path of textline_raw(). */
void textline_decoded(struct textline *t, struct slice raw);

/* A JSON string, decoded, in the form for terminals. */
static inline void textline_raw(struct textline *t, struct slice raw)
{
	size_t n = utf8_plain(raw);

	if (!raw.n)
		return;
	textline_put(t, (struct slice){raw.p, n});
	if (n < raw.n)
		textline_decoded(t, slice_from(raw, n));
}

/*
 * A string without its quotes, and with \xHH for each of the separators, which must not be letters; or any other value
 * as it is written.
 */
void textline_value(struct textline *t, struct slice value, const char *separators);

/*
 * Three decimals, even when another program has rewritten the number: 0.04 is 0.040. room: TEXTLINE_US bytes, for the
 * result.
 */
struct slice textline_us(struct slice us, char *room);
