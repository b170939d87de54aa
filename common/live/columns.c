/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "digits.h"
#include "terminal.h"

static char *put_blanks(char *to, int n)
{
	return n > 0 ? (char *)memset(to, ' ', n) + n : to;
}

static void put_word(struct out *out, struct slice word, int width)
{
	char *to = out_room(out, word.n + abs(width));

	to = put_blanks(to, -width - (int)word.n);
	to = mempcpy(to, word.p, word.n);
	out_commit(out, put_blanks(to, width - (int)word.n));
}

static void put_text(struct out *out, struct slice text, int width)
{
	int n = out_visible(out, text);

	out_commit(out, put_blanks(out_room(out, abs(width)), width - n));
}

static char *put_decimals(char *to, size_t room, const struct column_value *value, double unit)
{
	return to + snprintf(to, room, "%.*f", value->decimals, (int64_t)value->number / unit);
}

static void put_value(struct out *out, const struct column_value *value, int width)
{
	char number[64], *end = number;

	switch (value->kind) {
	case COLUMN_TEXT:
		put_text(out, value->text.n ? value->text : slice_of("-"), width);
		return;
	case COLUMN_WORD:
		put_word(out, value->text, width);
		return;
	case COLUMN_NUMBER:
		end = digits_u64(number, value->number);
		break;
	case COLUMN_US:
		end = digits_us(number, value->number);
		break;
	case COLUMN_MS:
		end = put_decimals(number, sizeof(number), value, 1e6);
		break;
	case COLUMN_SECONDS:
		end = put_decimals(number, sizeof(number), value, 1e9);
		break;
	default:
		*end++ = '-';
	}
	put_word(out, slice_between(number, end), width);
}

/* Whether lines of text have this column. */
static bool is_shown(const struct columns_output *c, const struct column *columns, size_t i)
{
	return columns[i].heading && !(c->left_out >> i & 1);
}

/* Names of commands are shortened. */
enum { COMM = 15, LEAST_COMM = 8 };

static int width_of(const struct columns_output *c, const struct column *column)
{
	return c->comm && column->width == COMM ? c->comm : column->width;
}

/* The width of a line; a column of any width counts as wide as its heading. */
static int width_of_all(const struct columns_output *c, const struct column *columns, size_t n)
{
	int all = c->stamp.wall ? WALL_COLUMN + 1 : 0;

	for (size_t i = 0; i < n; i++)
		if (is_shown(c, columns, i) && *columns[i].heading) {
			int width = abs(width_of(c, &columns[i])), least = strlen(columns[i].heading);

			all += (width > least ? width : least) + 1;
		}
	return all - 1;
}

/* The column to leave out next; n if all others must stay. */
static size_t find_spare(const struct columns_output *c, const struct column *columns, size_t n)
{
	size_t found = n;

	for (size_t i = 0; i < n; i++)
		if (is_shown(c, columns, i) && columns[i].value.spare &&
		    (found == n || columns[i].value.spare < columns[found].value.spare))
			found = i;
	return found;
}

static void fit(struct columns_output *c, const struct column *columns, size_t n)
{
	int width = terminal_open(false).width;
	size_t spare;

	while (width_of_all(c, columns, n) > width && (spare = find_spare(c, columns, n)) < n)
		c->left_out |= (uint64_t)1 << spare;
	for (int comm = COMM - 1; comm >= LEAST_COMM && width_of_all(c, columns, n) > width; comm--)
		c->comm = comm;
}

void columns_heading(struct columns_output *c, const struct column *columns, size_t n)
{
	bool is_first = true;

	if (c->out->fd == STDOUT_FILENO && isatty(STDOUT_FILENO))
		fit(c, columns, n);
	stamp_heading(&c->stamp, c->out);
	for (size_t i = 0; i < n; i++) {
		if (!is_shown(c, columns, i) || !*columns[i].heading)
			continue;
		if (!is_first)
			out_char(c->out, ' ');
		is_first = false;
		put_word(c->out, slice_of(columns[i].heading), width_of(c, &columns[i]));
	}
	out_char(c->out, '\n');
}

static void put_columns(struct columns_output *c, const struct column *columns, size_t n)
{
	struct out *out = c->out;
	bool is_first = true;

	for (size_t i = 0; i < n; i++) {
		const struct column_value *value = &columns[i].value;
		int width;

		if (!is_shown(c, columns, i) || (!*columns[i].heading && value->kind == COLUMN_ABSENT))
			continue;
		if (!is_first)
			out_char(out, ' ');
		is_first = false;
		width = width_of(c, &columns[i]);
		if (width != columns[i].width && value->kind == COLUMN_TEXT)
			out_shortened(out, value->text, width);
		else
			put_value(out, value, width);
	}
	out_char(out, '\n');
}

/* Writes the comma or brace before a member, and its name. */
static void put_name(struct out *out, char before, const char *name)
{
	size_t n = strlen(name);
	char *to = out_room(out, n + 4);

	*to++ = before;
	*to++ = '"';
	to = mempcpy(to, name, n);
	out_commit(out, mempcpy(to, "\":", 2));
}

static void put_json(struct columns_output *c, const struct column_value *value)
{
	switch (value->kind) {
	case COLUMN_TEXT:
		out_json(c->out, value->text);
		break;
	case COLUMN_WORD:
		out_char(c->out, '"');
		out_slice(c->out, value->text);
		out_char(c->out, '"');
		break;
	case COLUMN_US:
	case COLUMN_MS:
	case COLUMN_SECONDS:
		out_us(c->out, value->number);
		break;
	case COLUMN_TICKS:
		out_u64(c->out, stamp_tsc(&c->stamp, value->number));
		break;
	case COLUMN_BOOL:
		out_text(c->out, value->number ? "true" : "false");
		break;
	default:
		out_u64(c->out, value->number);
	}
}

void columns_object(struct columns_output *c, const struct column *columns, size_t n)
{
	char before = '{';

	for (size_t i = 0; i < n; i++) {
		if (!columns[i].name || columns[i].value.kind == COLUMN_ABSENT)
			continue;
		put_name(c->out, before, columns[i].name);
		put_json(c, &columns[i].value);
		before = ',';
	}
	out_text(c->out, before == '{' ? "{}" : "}");
}

void columns_line(struct columns_output *c, const struct column *columns, size_t n)
{
	if (!c->json) {
		put_columns(c, columns, n);
		return;
	}
	columns_object(c, columns, n);
	out_char(c->out, '\n');
}

void columns_event(struct columns_output *c, uint64_t ns, unsigned cpu, const char *tpoint,
		   const struct column *columns, size_t n)
{
	if (!c->json) {
		stamp_column(&c->stamp, c->out, ns);
		put_columns(c, columns, n);
		return;
	}
	/* before the args, some of which are earlier times: so the same readings of the clocks convert all of them */
	stamp_json(&c->stamp, c->out, ns);
	out_text(c->out, ",\"lcore\":");
	out_u64(c->out, cpu);
	out_text(c->out, ",\"tpoint\":\"");
	out_text(c->out, tpoint);
	out_text(c->out, "\",\"args\":");
	columns_object(c, columns, n);
	out_text(c->out, "}\n");
}
