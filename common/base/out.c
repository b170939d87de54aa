/* SPDX-License-Identifier: BSD-3-Clause */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "digits.h"
#include "io.h"
#include "json.h"
#include "mem.h"
#include "utf8.h"

void out_open(struct out *o, int fd)
{
	/* a failure does no harm: it is not a pipe, or not allowed */
	fcntl(fd, F_SETPIPE_SZ, 2 * IO_BLOCK);
	*o = (struct out){.fd = fd, .cap = IO_BLOCK, .buf = mem_resize(NULL, IO_BLOCK, 1)};
}

int out_flush(struct out *o)
{
	if (o->fd == OUT_MEMORY)
		return 0;
	if (!o->error && io_write(o->fd, o->buf, o->len) != 0)
		o->error = errno;
	o->len = 0;
	errno = o->error;
	return o->error ? -1 : 0;
}

int out_close(struct out *o)
{
	int status = out_flush(o);

	/*
	 * Some file systems, such as NFS, report that data could not be written only when a descriptor is closed. One
	 * that is all zero was never opened: standard input is no output.
	 */
	if (status == 0 && o->fd > STDIN_FILENO) {
		int copy = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);

		status = copy < 0 ? -1 : close(copy);
	}
	free(o->buf);
	o->buf = NULL;
	o->len = o->cap = 0;
	return status;
}

char *out_make_room(struct out *o, size_t n)
{
	out_flush(o);
	if (n > o->cap - o->len) {
		o->cap = o->len + n + (o->fd == OUT_MEMORY ? o->cap : 0);
		o->buf = mem_resize(o->buf, o->cap, 1);
	}
	return o->buf + o->len;
}

void out_many_bytes(struct out *o, const void *p, size_t n)
{
	out_flush(o);
	if (n > o->cap && o->fd != OUT_MEMORY) {
		if (!o->error && io_write(o->fd, p, n) != 0)
			o->error = errno;
		return;
	}
	memcpy(out_room(o, n), p, n);
	o->len += n;
}

/* Piece by piece, because the bound for a long text is much more than it takes. */
static size_t write_pieces(struct out *o, struct slice s, size_t factor, char *write(char *to, struct slice piece))
{
	enum { PIECE = 4096 };
	size_t written = 0;

	while (s.n) {
		struct slice piece = utf8_piece(s, PIECE);
		char *to = out_room(o, factor * piece.n), *end = write(to, piece);

		written += end - to;
		out_commit(o, end);
		s = slice_from(s, piece.n);
	}
	return written;
}

void out_utf8(struct out *o, struct slice bytes)
{
	if (utf8_is_ascii(bytes)) {
		out_slice(o, bytes);
		return;
	}
	while (bytes.n) {
		int length = utf8_length(bytes);

		if (length < 0)
			out_text(o, UTF8_REPLACEMENT);
		else
			out_bytes(o, bytes.p, length);
		slice_cut(&bytes, length < 0 ? -length : length);
	}
}

void out_json(struct out *o, struct slice bytes)
{
	out_char(o, '"');
	write_pieces(o, bytes, JSON_QUOTED(1), json_escape);
	out_char(o, '"');
}

size_t out_visible(struct out *o, struct slice bytes)
{
	return write_pieces(o, bytes, UTF8_VISIBLE(1), utf8_visible);
}

void out_visible_json(struct out *o, struct slice raw)
{
	struct slice plain = json_decode(raw);

	out_visible(o, plain);
	free((char *)plain.p);
}

void out_escaped(struct out *o, struct slice bytes, const char *also)
{
	while (bytes.n) {
		size_t n = 0;

		while (n < bytes.n && (!bytes.p[n] || !strchr(also, bytes.p[n])))
			n++;
		out_visible(o, slice_cut(&bytes, n));
		if (bytes.n)
			out_printf(o, "\\x%02x", *slice_cut(&bytes, 1).p);
	}
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("0123456789_./:+,@%-", c));
}

void out_word(struct out *o, struct slice path)
{
	struct out visible = {.fd = OUT_MEMORY};
	size_t plain = 0;
	bool is_visible;

	out_visible(&visible, path);
	is_visible = slice_equal(out_contents(&visible), path);
	out_close(&visible);
	while (plain < path.n && is_plain(path.p[plain]))
		plain++;
	if (slice_starts(path, "-"))
		out_text(o, "./");
	if (plain == path.n && path.n) {
		out_slice(o, path);
		return;
	}
	/* the second form, of bash, zsh and ksh, can express any byte */
	out_text(o, is_visible ? "'" : "$'");
	if (!is_visible)
		out_escaped(o, path, "'\\");
	for (size_t i = 0; is_visible && i < path.n; i++)
		if (path.p[i] == '\'')
			out_text(o, "'\\''");
		else
			out_char(o, path.p[i]);
	out_char(o, '\'');
}

void out_xml(struct out *o, struct slice text)
{
	static const char *const entities[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};

	for (size_t i = 0; i < text.n; i++)
		if (entities[(unsigned char)text.p[i]])
			out_text(o, entities[(unsigned char)text.p[i]]);
		else
			out_char(o, text.p[i]);
}

void out_column(struct out *o, struct slice bytes, size_t width)
{
	size_t n = out_visible(o, bytes.n ? bytes : slice_of("-"));

	do
		out_char(o, ' ');
	while (n++ < width);
}

static void put_blanks(struct out *o, size_t n)
{
	memset(out_room(o, n), ' ', n);
	o->len += n;
}

size_t out_short(struct out *o, struct slice bytes, size_t width)
{
	struct out visible = {.fd = OUT_MEMORY};
	size_t n;

	/* nearly always */
	if (bytes.n <= width && utf8_plain(bytes) == bytes.n) {
		out_slice(o, bytes);
		return bytes.n;
	}
	out_visible(&visible, bytes);
	n = utf8_count(out_contents(&visible));
	if (n > width) {
		out_commit(&visible, utf8_shorten(out_room(&visible, 1) - visible.len, visible.len, width));
		n = width;
	}
	out_slice(o, out_contents(&visible));
	out_close(&visible);
	return n;
}

void out_shortened(struct out *o, struct slice bytes, size_t width)
{
	size_t n = out_short(o, bytes.n ? bytes : slice_of("-"), width);

	put_blanks(o, width - n);
}

size_t out_escape_length(struct slice s)
{
	size_t n = 2;

	if (s.n < 2 || s.p[0] != '\x1b' || s.p[1] != '[')
		return 0;
	while (n < s.n && s.p[n] < '@')
		n++;
	return n < s.n ? n + 1 : n;
}

/* The characters of valid UTF-8 that a terminal shows. */
static size_t shown_count(struct slice line)
{
	size_t n = 0;

	while (line.n) {
		size_t escape = out_escape_length(line);

		n += !escape && !utf8_continues(*line.p);
		slice_cut(&line, escape ? escape : 1);
	}
	return n;
}

void out_clipped(struct out *o, struct slice line, size_t width)
{
	size_t room = width - 1;

	/* no line has more characters than bytes */
	if (line.n <= width || shown_count(line) <= width) {
		out_slice(o, line);
		return;
	}
	while (line.n) {
		size_t escape = out_escape_length(line), length = escape ? escape : 1;

		while (!escape && length < line.n && utf8_continues(line.p[length]))
			length++;
		if (escape || room)
			out_bytes(o, line.p, length);
		slice_cut(&line, length);
		if (!escape && room && !--room)
			out_text(o, utf8_ellipsis());
	}
}

void out_u64(struct out *o, uint64_t v)
{
	out_commit(o, digits_u64(out_room(o, DIGITS_ROOM), v));
}

void out_hex(struct out *o, uint64_t v)
{
	out_commit(o, digits_hex(out_room(o, DIGITS_ROOM), v));
}

void out_us(struct out *o, uint64_t ns)
{
	out_commit(o, digits_us(out_room(o, DIGITS_ROOM + 4), ns));
}

/* With one or two decimals. Returns the end. */
static char *write_decimals(char *to, uint64_t number, unsigned decimals)
{
	unsigned divisor = decimals == 2 ? 100 : 10;

	to = digits_u64(to, number / divisor);
	*to++ = '.';
	if (decimals == 2)
		*to++ = '0' + number / 10 % 10;
	*to++ = '0' + number % 10;
	return to;
}

/* Takes at most DIGITS_ROOM + 8 bytes. Returns the end. */
static char *write_duration(char *to, uint64_t ns)
{
	static const char *const units[] = {" ns", " us", " ms", " s"};
	uint64_t unit = 1, whole, rest;
	unsigned i = 0;

	/* a unit fits if rounding to three digits does not make it 1000 */
	while (i < 3 && ns >= 1000 * unit - unit / 2) {
		unit *= 1000;
		i++;
	}
	whole = ns / unit;
	rest = ns % unit;
	/* 9.995 us is 10.0 us */
	if (unit > 1 && 1000 * whole + 1000 * rest / unit < 9995)
		to = write_decimals(to, 100 * whole + (100 * rest + unit / 2) / unit, 2);
	else if (unit > 1 && 100 * whole + 100 * rest / unit < 9995)
		to = write_decimals(to, 10 * whole + (10 * rest + unit / 2) / unit, 1);
	else
		to = digits_u64(to, whole + (rest + unit / 2) / unit);
	return stpcpy(to, units[i]);
}

void out_duration(struct out *o, uint64_t ns)
{
	char text[DIGITS_ROOM + 8];
	size_t n = write_duration(text, ns) - text;

	for (size_t i = n; i < OUT_DURATION; i++)
		out_char(o, ' ');
	out_bytes(o, text, n);
}

void out_duration_text(struct out *o, uint64_t ns)
{
	out_commit(o, write_duration(out_room(o, DIGITS_ROOM + 8), ns));
}

void out_printf(struct out *o, const char *format, ...)
{
	va_list args, again;
	size_t room = o->cap - o->len;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(room ? o->buf + o->len : NULL, room, format, args);
	if (n >= 0 && (size_t)n >= room)
		vsnprintf(out_make_room(o, n + 1), n + 1, format, again);
	if (n > 0)
		o->len += n;
	va_end(again);
	va_end(args);
}
