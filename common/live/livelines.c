/* SPDX-License-Identifier: BSD-3-Clause */
#include "livelines.h"

#include <stdlib.h>
#include <unistd.h>

#include "terminal.h"

int64_t stamp_since(struct stamp *s, uint64_t ns)
{
	if (!s->first_ns)
		s->first_ns = ns;
	return ns - s->first_ns;
}

static uint64_t ticks_of(struct stamp *s, uint64_t ns)
{
	return s->ticks ? ticks_at(s->ticks, ns) : ns;
}

void stamp_json(struct stamp *s, struct out *out, uint64_t ns)
{
	int64_t since = stamp_since(s, ns);

	out_text(out, "{\"tsc\":");
	out_u64(out, ticks_of(s, ns));
	out_text(out, since < 0 ? ",\"us\":-" : ",\"us\":");
	out_us(out, since < 0 ? -since : since);
	if (s->wall) {
		out_text(out, ",\"time\":\"");
		out_commit(out, wall_write(&s->text, out_room(out, WALL_ROOM), ticks_wall(s->wall, ns)));
		out_char(out, '"');
	}
}

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

static void put_value(struct out *out, const struct column_value *value, int width)
{
	char room[COLUMNS_ROOM];
	int n;

	if (value->kind != COLUMN_TEXT) {
		put_word(out, columns_short(value, room), width);
		return;
	}
	n = out_visible(out, value->text.n ? value->text : slice_of("-"));
	out_commit(out, put_blanks(out_room(out, abs(width)), width - n));
}

/* Whether lines of text have this column. */
static bool is_shown(const struct livelines *c, const struct column *columns, size_t i)
{
	return columns[i].heading && !(c->left_out >> i & 1);
}

/* Names of commands are shortened. */
enum { COMM = 15, LEAST_COMM = 8 };

static int width_of(const struct livelines *c, const struct column *column)
{
	return c->comm && column->width == COMM ? c->comm : column->width;
}

/* The width of a line; a column of any width counts as wide as its heading. */
static int width_of_all(const struct livelines *c, const struct column *columns, size_t n)
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
static size_t find_spare(const struct livelines *c, const struct column *columns, size_t n)
{
	size_t found = n;

	for (size_t i = 0; i < n; i++)
		if (is_shown(c, columns, i) && columns[i].value.spare &&
		    (found == n || columns[i].value.spare < columns[found].value.spare))
			found = i;
	return found;
}

static void fit(struct livelines *c, const struct column *columns, size_t n)
{
	int width = terminal_open().width;
	size_t spare;

	while (width_of_all(c, columns, n) > width && (spare = find_spare(c, columns, n)) < n)
		c->left_out |= (uint64_t)1 << spare;
	for (int comm = COMM - 1; comm >= LEAST_COMM && width_of_all(c, columns, n) > width; comm--)
		c->comm = comm;
}

void livelines_heading(struct livelines *c, const struct column *columns, size_t n)
{
	bool is_first = true;

	c->plain = c->out->fd != STDOUT_FILENO || terminal_open().plain;
	if (c->plain) {
		out_text(c->out, c->stamp.wall ? "time" : "");
		columns_tabs(c->out, c->stamp.wall ? '\t' : 0, columns, n, true);
		out_char(c->out, '\n');
		return;
	}
	fit(c, columns, n);
	if (c->stamp.wall)
		out_column(c->out, slice_of("TIME"), WALL_COLUMN);
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

static void put_columns(struct livelines *c, const struct column *columns, size_t n)
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
}

/* Writes the JSON object only. */
static void write_object(struct livelines *c, const struct column *columns, size_t n)
{
	char before = '{';

	for (size_t i = 0; i < n; i++) {
		struct column column = columns[i];

		if (column.value.kind == COLUMN_TICKS)
			column.value = columns_number(ticks_of(&c->stamp, column.value.number));
		before = columns_members(c->out, before, &column, 1);
	}
	out_text(c->out, before == '{' ? "{}" : "}");
}

void livelines_line(struct livelines *c, const struct column *columns, size_t n)
{
	if (c->json)
		write_object(c, columns, n);
	else if (c->plain)
		columns_tabs(c->out, c->stamp.wall ? '\t' : 0, columns, n, false);
	else
		put_columns(c, columns, n);
	out_char(c->out, '\n');
}

void livelines_event(struct livelines *c, uint64_t ns, unsigned cpu, const char *tpoint, const struct column *columns,
		     size_t n)
{
	if (!c->json) {
		if (c->stamp.wall) {
			char *room = out_room(c->out, WALL_ROOM);

			out_commit(c->out, wall_write_local(&c->stamp.text, room, ticks_wall(c->stamp.wall, ns)));
			out_text(c->out, c->plain ? "" : " ");
		}
		livelines_line(c, columns, n);
		return;
	}
	/* before the args, some of which are earlier times: so the same readings of the clocks convert all of them */
	stamp_json(&c->stamp, c->out, ns);
	out_text(c->out, ",\"lcore\":");
	out_u64(c->out, cpu);
	out_text(c->out, ",\"tpoint\":\"");
	out_text(c->out, tpoint);
	out_text(c->out, "\",\"args\":");
	write_object(c, columns, n);
	out_text(c->out, "}\n");
}
