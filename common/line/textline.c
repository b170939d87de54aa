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

	return (struct textline){out, room, TEXTLINE_SPARE, out_room(out, room), 0};
}

void textline_end(struct textline *t)
{
	while (t->p[-1] == ' ')
		t->p--;
	*t->p++ = '\n';
	out_commit(t->out, t->p);
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

void textline_value(struct textline *t, struct slice value)
{
	if (value.p[0] == '"')
		value = slice_between(value.p + 1, value.p + value.n - 1);
	textline_raw(t, value);
}

struct slice textline_us(struct slice us, char *room)
{
	/* not 1.2e3 */
	if (us.n > 4 && us.p[us.n - 4] == '.' && us.p[us.n - 2] <= '9')
		return us;
	return (struct slice){room, sprintf(room, "%.3f", strtod(us.p, NULL))};
}
