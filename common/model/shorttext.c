/* SPDX-License-Identifier: BSD-3-Clause */
#include "shorttext.h"

#include "digits.h"
#include "json.h"
#include "textline.h"

static bool has_column(const struct shorttext *s, enum shorttext_column column)
{
	return !s->hidden[column] && (column != SHORTTEXT_TIME || s->has_times);
}

static unsigned widen(struct shorttext *s, enum shorttext_column column, unsigned width)
{
	/* a value that is even wider pushes the rest of its line to the right */
	if (width > s->widths[column] && width <= TEXTLINE_PAD)
		s->widths[column] = width;
	return s->widths[column];
}

/* Ends a left-aligned column, which textline_column() has started. */
static void end_column(struct textline *t, struct shorttext *s, enum shorttext_column column)
{
	if (!t->width)
		textline_text(t, "-");
	if (s->shortens && t->width > s->widths[column])
		textline_shorten(t, s->widths[column]);
	textline_pad(t, widen(s, column, t->width));
	textline_text(t, " ");
}

/* Writes a right-aligned column. */
static void put_number(struct textline *t, struct shorttext *s, enum shorttext_column i, struct slice number)
{
	unsigned width;

	if (!has_column(s, i))
		return;
	if (!number.p)
		number = slice_of("-");
	width = widen(s, i, number.n);
	textline_column(t);
	if (number.n < width)
		textline_pad(t, width - number.n);
	textline_put(t, number);
	textline_text(t, " ");
}

static void put_name(struct textline *t, const struct connection *connection)
{
	textline_other(t, connection->name);
	t->width += connection->width;
}

static void put_object(struct textline *t, const struct traceline *line)
{
	if (line->object_id.p) {
		textline_raw(t, line->object_id);
	} else if (line->object_value) {
		char value[DIGITS_ROOM], *end = digits_hex(value, line->object_value);

		textline_put(t, slice_between(value, end));
	}
	if (line->related.p) {
		textline_text(t, "(");
		textline_raw(t, line->related);
		textline_text(t, ")");
	}
}

static void put_value(struct textline *t, struct slice value)
{
	bool quotes = value.p[0] == '"' && (value.n == 2 || memchr(value.p, ' ', value.n));

	textline_text(t, quotes ? "=\"" : "=");
	textline_value(t, value, "\"");
	textline_text(t, quotes ? "\"" : "");
}

/* An annotation without a host: (key=value, key=value). */
static void put_annotation(struct textline *t, struct slice annotation)
{
	const char *before = "";
	struct slice key, value;
	struct json j;

	textline_text(t, "(");
	json_init(&j, annotation.p, annotation.n);
	for (json_object(&j); json_key(&j, &key) && json_value(&j, &value); before = ", ") {
		textline_text(t, before);
		textline_raw(t, key);
		textline_text(t, "=");
		textline_value(t, value, ",()");
	}
	textline_text(t, ")");
}

void shorttext_heading(const struct shorttext *s, struct out *out)
{
	static const struct {
		const char *name;
		bool is_number;
	} headings[SHORTTEXT_COLUMNS] = {
		[SHORTTEXT_LCORE] = {"LCORE", true},    [SHORTTEXT_US] = {"US", true},
		[SHORTTEXT_TIME] = {"TIME", false},     [SHORTTEXT_WHO] = {"WHO", false},
		[SHORTTEXT_TPOINT] = {"TPOINT", false}, [SHORTTEXT_OBJECT] = {"OBJECT", false},
		[SHORTTEXT_AGE] = {"AGE_US", true},     [SHORTTEXT_SIZE] = {"SIZE", true},
		[SHORTTEXT_ARGS] = {"ARGS", false},
	};

	for (enum shorttext_column i = 0; i < SHORTTEXT_COLUMNS; i++)
		if (has_column(s, i))
			out_printf(out, headings[i].is_number ? "%*s " : "%-*s ", (int)s->widths[i], headings[i].name);
	while (out->buf[out->len - 1] == ' ')
		out->len--;
	out_char(out, '\n');
}

void shorttext_write(struct shorttext *s, struct out *out, const struct traceline *line, size_t n,
		     struct connections *connections, uint32_t connection, size_t named)
{
	char us[TEXTLINE_US], object_us[TEXTLINE_US];
	struct textline t = textline_start(out, line, n);

	put_number(&t, s, SHORTTEXT_LCORE, line->lcore);
	put_number(&t, s, SHORTTEXT_US, textline_us(line->us, us));
	s->has_times |= line->time.p != NULL;
	if (has_column(s, SHORTTEXT_TIME)) {
		textline_column(&t);
		textline_raw(&t, line->time);
		end_column(&t, s, SHORTTEXT_TIME);
	}
	textline_column(&t);
	if (connection != MAP_NONE)
		put_name(&t, connections_name(connections, connection));
	end_column(&t, s, SHORTTEXT_WHO);
	textline_column(&t);
	textline_raw(&t, line->tpoint);
	end_column(&t, s, SHORTTEXT_TPOINT);
	if (has_column(s, SHORTTEXT_OBJECT)) {
		textline_column(&t);
		put_object(&t, line);
		end_column(&t, s, SHORTTEXT_OBJECT);
	}
	put_number(&t, s, SHORTTEXT_AGE, line->object_us.p ? textline_us(line->object_us, object_us) : line->object_us);
	put_number(&t, s, SHORTTEXT_SIZE, line->size);
	for (size_t i = 0; has_column(s, SHORTTEXT_ARGS) && i < line->num_args; i++) {
		const struct traceline_arg *arg = &line->args[i];
		bool annotated = arg->value.p[0] == '{';
		uint32_t other = MAP_NONE;

		if (i == named)
			continue;
		if (annotated)
			other = connections_annotated(connections, line, arg->value);
		textline_raw(&t, arg->key);
		if (other != MAP_NONE) {
			textline_text(&t, "=");
			put_name(&t, connections_name(connections, other));
		} else if (annotated) {
			put_annotation(&t, arg->value);
		} else {
			put_value(&t, arg->value);
		}
		textline_text(&t, " ");
	}
	textline_end(&t);
}
