/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

#include "digits.h"
#include "json.h"
#include "lifetimes.h"
#include "utf8.h"

/*
 * A line of text that is being written, at p. There is room for all that is in the trace line;
 * anything else goes through put_other(). Columns count characters, as Python does.
 */
struct text {
	struct out *out;
	size_t room;
	size_t spare; /* of the room, for put_other() */
	char *p;
	unsigned width; /* characters since the column started */
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

/* Writes text that is not from the trace line, of any length. Not counted in the width. */
static void put_other(struct text *t, struct slice s)
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

/* Writes a JSON string, decoded, in the form for terminals. */
static void put_raw(struct text *t, struct slice raw)
{
	size_t n = utf8_plain(raw);
	char *start;

	if (!raw.n)
		return;
	put(t, (struct slice){raw.p, n});
	if (n == raw.n)
		return;
	raw = slice_from(raw, n);
	start = t->p;
	if (memchr(raw.p, '\\', raw.n)) {
		/* decode it after the room that its visible form may take */
		char *plain = start + UTF8_VISIBLE(raw.n);

		raw = (struct slice){plain, json_unescape(plain, raw)};
	}
	t->p = utf8_visible(start, raw);
	for (; start < t->p; start++)
		t->width += (*start & 0xc0) != 0x80;
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

/* Three decimals, even when another program has rewritten the number: 0.04 is 0.040. */
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

		/* without 0x */
		put(t, slice_between(value + 2, end));
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
		value = slice_between(value.p + 1, value.p + value.n - 1);
	put_raw(t, value);
}

/* The key of an added argument is not in the line. */
static void put_key(struct text *t, const struct traceline_arg *arg)
{
	if (arg->value.p)
		put_raw(t, arg->key);
	else
		put_other(t, arg->key);
}

static void put_annotation(struct text *t, const struct lifetime *lifetime)
{
	put_string(t, "(");
	put_other(t, lifetime->text);
	put_string(t, ")");
}

static void put_args(struct text *t, const struct traceline *line)
{
	for (size_t i = 0; i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;

		if (i)
			put_string(t, ", ");
		put_key(t, arg);
		if (lifetime) {
			put_annotation(t, lifetime);
		} else {
			put_string(t, ": ");
			put_value(t, arg->value);
		}
	}
}

enum { SPARE = 512 };

/* Starts the text of a line of n bytes, with room for punctuation around arguments, and for columns. */
static struct text start_text(struct out *out, const struct traceline *line, size_t n)
{
	size_t room = UTF8_VISIBLE(n) + n + 4 * line->num_args + 2 * US_ROOM + 128 + TEXT_COLUMNS * (PAD + 2) + SPARE;

	return (struct text){out, room, SPARE, out_room(out, room), 0};
}

static void end_line(struct text *t)
{
	while (t->p[-1] == ' ')
		t->p--;
	*t->p++ = '\n';
	out_commit(t->out, t->p);
}

void text_write(struct out *out, const struct traceline *line, size_t n)
{
	char us[US_ROOM], object_us[US_ROOM];
	struct text t = start_text(out, line, n);
	struct slice time = three_decimals(line->us, us);

	pad(&t, line->lcore.n < 3 ? 3 - line->lcore.n : 0);
	put(&t, line->lcore);
	put_string(&t, " ");
	column(&t);
	pad(&t, time.n < 16 ? 16 - time.n : 0);
	put(&t, time);
	put_string(&t, " ");
	if (line->time.p) {
		put_raw(&t, line->time);
		put_string(&t, " ");
	}
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
	end_line(&t);
}

static unsigned widen(struct text_short *s, enum text_column column, unsigned width)
{
	/* a value that is even wider pushes the rest of its line to the right */
	if (width > s->widths[column] && width <= PAD)
		s->widths[column] = width;
	return s->widths[column];
}

/* Ends a left-aligned column, which column() has started. */
static void end_column(struct text *t, struct text_short *s, enum text_column column)
{
	if (!t->width)
		put_string(t, "-");
	pad(t, widen(s, column, t->width));
	put_string(t, " ");
}

/* Writes a right-aligned column. */
static void put_number(struct text *t, struct text_short *s, enum text_column i, struct slice number)
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
	put_other(t, name->text);
	t->width += name->width;
}

static void put_owner(struct text *t, const struct traceline *line, struct who *who)
{
	const struct who_name *name = line->owner.n ? who_owner(who, line->owner, line->poller) : NULL;

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

		put(t, slice_between(value, end));
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
	for (size_t i = 0; i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		const struct lifetime *lifetime = arg->note;
		const struct who_name *name;

		if (arg == named)
			continue;
		put_key(t, arg);
		name = lifetime ? who_qpair(who, lifetime) : NULL;
		if (name) {
			put_string(t, "=");
			put_name(t, name);
		} else if (lifetime) {
			put_annotation(t, lifetime);
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
	char us[US_ROOM], object_us[US_ROOM];
	struct text t = start_text(out, line, n);

	/* a new host may make the names of others longer: learn all before the first is used */
	for (size_t i = 0; i < line->num_args; i++)
		if (line->args[i].note)
			who_qpair(&s->who, line->args[i].note);
	for (size_t i = 0; i < line->num_args && !name; i++) {
		named = &line->args[i];
		name = named->note ? who_qpair(&s->who, named->note) : NULL;
	}
	if (!name)
		named = NULL;
	put_number(&t, s, TEXT_LCORE, line->lcore);
	put_number(&t, s, TEXT_US, three_decimals(line->us, us));
	s->has_times |= line->time.p != NULL;
	if (s->has_times) {
		column(&t);
		put_raw(&t, line->time);
		end_column(&t, s, TEXT_TIME);
	}
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
	put_number(&t, s, TEXT_AGE, line->object_us.p ? three_decimals(line->object_us, object_us) : line->object_us);
	put_number(&t, s, TEXT_SIZE, line->size);
	put_short_args(&t, line, &s->who, named);
	end_line(&t);
}
