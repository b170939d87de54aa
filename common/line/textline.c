/* SPDX-License-Identifier: BSD-3-Clause */
#include "textline.h"

#include <stdio.h>
#include <stdlib.h>

#include "json.h"

enum { COLUMNS = 16 }; /* at most */

struct textline textline_start(struct out *out, const struct traceline *line, size_t n)
{
	size_t room = UTF8_VISIBLE(n) + n + 4 * line->num_args + 2 * TEXTLINE_US + 128 + COLUMNS * (TEXTLINE_PAD + 2) +
		      TEXTLINE_SPARE;

	return (struct textline){out, room, TEXTLINE_SPARE, out_room(out, room), 0, 0};
}

void textline_end(struct textline *t)
{
	while (t->p[-1] == ' ')
		t->p--;
	*t->p++ = '\n';
	out_commit(t->out, t->p);
}

void textline_shorten(struct textline *t, unsigned width)
{
	char *start = t->out->buf + t->column;

	t->p = utf8_shorten(start, t->p - start, width);
	t->width = width;
}

void textline_other(struct textline *t, struct slice s)
{
	if (s.n <= t->spare) {
		t->spare -= s.n;
		t->p = mempcpy(t->p, s.p, s.n);
		return;
	}
	out_commit(t->out, t->p);
	out_slice(t->out, s);
	t->p = out_room(t->out, t->room);
}

void textline_decoded(struct textline *t, struct slice raw)
{
	char *start = t->p;

	if (memchr(raw.p, '\\', raw.n)) {
		/* decode it after the room that its visible form may take */
		char *plain = start + UTF8_VISIBLE(raw.n);

		raw = (struct slice){plain, json_unescape(plain, raw)};
	}
	t->p = utf8_visible(start, raw);
	t->width += utf8_count(slice_between(start, t->p));
}

/* The bytes of a JSON string before the first separator, which may be escaped by a backslash. */
static size_t before_separator(struct slice raw, const char *separators)
{
	size_t n = 0;

	while (n < raw.n) {
		bool escaped = raw.p[n] == '\\';

		if (strchr(separators, raw.p[n + escaped]))
			break;
		n += 1 + escaped;
	}
	return n;
}

void textline_value(struct textline *t, struct slice value, const char *separators)
{
	struct slice raw = json_unquoted(value);

	if (raw.n == value.n) {
		t->p = utf8_visible(t->p, value);
		return;
	}
	/* nearly always */
	if (!separators[1] && !memchr(raw.p, separators[0], raw.n)) {
		textline_raw(t, raw);
		return;
	}
	while (raw.n) {
		textline_raw(t, slice_cut(&raw, before_separator(raw, separators)));
		if (!raw.n)
			break;
		slice_cut(&raw, *raw.p == '\\');
		t->p += sprintf(t->p, "\\x%02x", *slice_cut(&raw, 1).p);
	}
}

struct slice textline_us(struct slice us, char *room)
{
	/* not 1.2e3 */
	if (us.n > 4 && us.p[us.n - 4] == '.' && us.p[us.n - 2] <= '9')
		return us;
	return (struct slice){room, sprintf(room, "%.3f", strtod(us.p, NULL))};
}
