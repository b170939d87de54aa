/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

#include "digits.h"
#include "json.h"
#include "lifetimes.h"
#include "utf8.h"

/* A line of text in the making. Columns count characters, as Python does. */
struct text {
	char *p;
	unsigned width; /* characters since the last begin of a column */
};

static void put(struct text *t, struct slice s)
{
	t->p = mempcpy(t->p, s.p, s.n);
	t->width += s.n;
}

static void put_string(struct text *t, const char *s)
{
	put(t, slice_of(s));
}

/* A JSON string decoded, with what a terminal must not get escaped. */
static void put_raw(struct text *t, struct slice raw)
{
	size_t n = utf8_plain(raw);
	char *begin;

	if (!raw.n)
		return;
	put(t, (struct slice){raw.p, n});
	if (n == raw.n)
		return;
	raw = (struct slice){raw.p + n, raw.n - n};
	begin = t->p;
	if (memchr(raw.p, '\\', raw.n)) {
		/* decoded after the room that its visible form may take */
		char *plain = begin + UTF8_VISIBLE(raw.n);

		raw = (struct slice){plain, json_unescape(plain, raw)};
	}
	t->p = utf8_visible(begin, raw);
	for (; begin < t->p; begin++)
		t->width += (*begin & 0xc0) != 0x80;
}

static void column(struct text *t)
{
	t->width = 0;
}

enum { PAD = 32 }; /* at least the width of any column; pad() may write as many bytes */

static void pad(struct text *t, unsigned width)
{
	if (t->width >= width)
		return;
	/* a constant length compiles to two stores; the excess is overwritten */
	memset(t->p, ' ', PAD);
	t->p += width - t->width;
	t->width = width;
}

/* Microseconds with three decimals, also where somebody has rewritten the number: 0.04 is 0.040. */
static struct slice three_decimals(struct slice us, char *room)
{
	/* not 1.2e3 */
	if (us.n > 4 && us.p[us.n - 4] == '.' && us.p[us.n - 2] <= '9')
		return us;
	return (struct slice){room, sprintf(room, "%.3f", strtod(us.p, NULL))};
}

enum { US_ROOM = 320 }; /* the longest double has 309 digits before the point */

static void put_id(struct text *t, const struct traceline *line)
{
	if (!line->object_id.p && !line->object_value)
		return;
	put_string(t, "id: ");
	column(t);
	if (line->object_id.p) {
		put_raw(t, line->object_id);
	} else {
		char value[DIGITS_ROOM], *end = digits_hex(value, line->object_value);

		put(t, (struct slice){value + 2, end - value - 2});
	}
	if (line->related.p) {
		put_string(t, " (");
		put_raw(t, line->related);
		put_string(t, ")");
	}
	pad(t, 12);
	put_string(t, " ");
}

/* A string without its quotes, or any other value as it is written. */
static void put_value(struct text *t, struct slice value)
{
	if (value.p[0] == '"')
		value = (struct slice){value.p + 1, value.n - 2};
	put_raw(t, value);
}

static void put_args(struct text *t, const struct traceline *line)
{
	for (unsigned i = 0; i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;

		if (i)
			put_string(t, ", ");
		put_raw(t, arg->key);
		if (lifetime) {
			put_string(t, "(");
			put(t, lifetime->text);
			put_string(t, ")");
		} else {
			put_string(t, ": ");
			put_value(t, arg->value);
		}
	}
}

/* Bytes that the text of a line of n bytes may take. */
static size_t text_room(const struct traceline *line, size_t n)
{
	size_t room = UTF8_VISIBLE(n) + n + 2 * US_ROOM + 128 + PAD;

	for (unsigned i = 0; i < line->num_args; i++) {
		const struct lifetime *lifetime = line->args[i].note;

		/* the name of one that was added is not in the line */
		if (lifetime)
			room += lifetime->text.n + line->args[i].key.n + 4;
	}
	return room;
}

static void end_line(struct out *out, struct text *t)
{
	while (t->p[-1] == ' ')
		t->p--;
	*t->p++ = '\n';
	out_commit(out, t->p);
}

void text_write(struct out *out, const struct traceline *line, size_t n)
{
	char us[US_ROOM], object_us[US_ROOM];
	struct text t = {.p = out_room(out, text_room(line, n))};
	struct slice time = three_decimals(line->us, us);

	if (!t.p)
		return;
	pad(&t, line->lcore.n < 3 ? 3 - line->lcore.n : 0);
	put(&t, line->lcore);
	put_string(&t, " ");
	column(&t);
	pad(&t, time.n < 16 ? 16 - time.n : 0);
	put(&t, time);
	put_string(&t, " ");
	column(&t);
	put_raw(&t, line->owner.n ? line->owner : line->poller);
	pad(&t, 3);
	put_string(&t, " ");
	column(&t);
	put_raw(&t, line->tpoint);
	pad(&t, 24);
	put_string(&t, " ");
	column(&t);
	if (line->size.p) {
		put_string(&t, "size: ");
		put(&t, line->size);
	}
	pad(&t, 12);
	put_id(&t, line);
	if (line->object_us.p) {
		put_string(&t, "time: ");
		column(&t);
		put(&t, three_decimals(line->object_us, object_us));
		pad(&t, 8);
		put_string(&t, " ");
	}
	put_args(&t, line);
	end_line(out, &t);
}

static unsigned widen(struct text_short *s, enum text_column column, unsigned width)
{
	/* a value that is even wider pushes the rest of its line to the right */
	if (width > s->widths[column] && width <= PAD)
		s->widths[column] = width;
	return s->widths[column];
}

/* Ends a left-aligned column that column() started. */
static void end_column(struct text *t, struct text_short *s, enum text_column column)
{
	if (!t->width)
		put_string(t, "-");
	pad(t, widen(s, column, t->width));
	put_string(t, " ");
}

/* Writes a right-aligned column. */
static void put_number(struct text *t, struct text_short *s, enum text_column i,
		       struct slice number)
{
	unsigned width;

	if (!number.p)
		number = slice_of("-");
	width = widen(s, i, number.n);
	column(t);
	if (number.n < width)
		pad(t, width - number.n);
	put(t, number);
	put_string(t, " ");
}

static void put_name(struct text *t, const struct who_name *name)
{
	t->p = mempcpy(t->p, name->text.p, name->text.n);
	t->width += name->width;
}

static void put_owner(struct text *t, const struct traceline *line, struct who *who)
{
	const struct who_name *name = line->owner.n ? who_owner(who, line->owner, line->poller)
						    : NULL;

	if (!name || !name->text.n) {
		put_raw(t, line->poller);
		return;
	}
	put_name(t, name);
	if (name->shared) {
		put_string(t, "(");
		put_raw(t, line->poller);
		put_string(t, ")");
	}
}

static void put_object(struct text *t, const struct traceline *line)
{
	if (line->object_id.p) {
		put_raw(t, line->object_id);
	} else if (line->object_value) {
		char value[DIGITS_ROOM], *end = digits_hex(value, line->object_value);

		put(t, (struct slice){value, end - value});
	}
	if (line->related.p) {
		put_string(t, "(");
		put_raw(t, line->related);
		put_string(t, ")");
	}
}

static void put_short_value(struct text *t, struct slice value)
{
	bool quotes = value.p[0] == '"' && (value.n == 2 || memchr(value.p, ' ', value.n));

	put_string(t, quotes ? "=\"" : "=");
	put_value(t, value);
	put_string(t, quotes ? "\"" : "");
}

static void put_short_args(struct text *t, const struct traceline *line, struct who *who,
			   const struct traceline_arg *named)
{
	for (unsigned i = 0; i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;
		const struct who_name *name;

		if (arg == named)
			continue;
		put_raw(t, arg->key);
		name = lifetime ? who_qpair(who, lifetime) : NULL;
		if (name) {
			put_string(t, "=");
			put_name(t, name);
		} else if (lifetime) {
			put_string(t, "(");
			put(t, lifetime->text);
			put_string(t, ")");
		} else {
			put_short_value(t, arg->value);
		}
		put_string(t, " ");
	}
}

void text_write_short(struct out *out, const struct traceline *line, size_t n, struct text_short *s)
{
	/* the first argument whose lifetime has a name; it moves to a column of its own */
	const struct traceline_arg *named = NULL;
	const struct who_name *name = NULL;
	size_t room = text_room(line, n) + TEXT_COLUMNS * (PAD + 2) + 4 * line->num_args;
	char us[US_ROOM], object_us[US_ROOM];
	struct text t;

	/* a host that is new may make the names of others longer: all are learned before the first is used */
	for (unsigned i = 0; i < line->num_args; i++)
		if (line->args[i].note)
			who_qpair(&s->who, line->args[i].note);
	for (unsigned i = 0; i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct who_name *other = arg->note ? who_qpair(&s->who, arg->note) : NULL;

		room += other ? other->text.n : 0;
		if (other && !named) {
			named = arg;
			name = other;
		}
	}
	t = (struct text){.p = out_room(out, room)};
	if (!t.p)
		return;
	put_number(&t, s, TEXT_LCORE, line->lcore);
	put_number(&t, s, TEXT_US, three_decimals(line->us, us));
	column(&t);
	if (name)
		put_name(&t, name);
	else
		put_owner(&t, line, &s->who);
	end_column(&t, s, TEXT_WHO);
	column(&t);
	put_raw(&t, line->tpoint);
	end_column(&t, s, TEXT_TPOINT);
	column(&t);
	put_object(&t, line);
	end_column(&t, s, TEXT_OBJECT);
	put_number(&t, s, TEXT_AGE,
		   line->object_us.p ? three_decimals(line->object_us, object_us)
				     : line->object_us);
	put_number(&t, s, TEXT_SIZE, line->size);
	put_short_args(&t, line, &s->who, named);
	end_line(out, &t);
}
