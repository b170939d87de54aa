/* SPDX-License-Identifier: BSD-3-Clause */
#include "columns.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"
#include "mem.h"
#include "minmax.h"
#include "utf8.h"

enum {
	SHORTEST = 3,   /* a name with an ellipsis, when there are no columns to drop */
	BAR_LEAST = 10, /* a shorter bar says little */
};

static char *write_real(char *to, int decimals, double value)
{
	return to + snprintf(to, COLUMNS_ROOM, "%.*f", decimals, value);
}

/* Rounds ns to a number of decimals of this unit, 10^`unit` ns. */
static char *write_fixed(char *to, uint64_t ns, int unit, int decimals)
{
	char digits[DIGITS_ROOM];
	uint64_t least = 1, whole = 1;

	for (int i = unit; i > decimals; i--)
		least *= 10;
	for (int i = 0; i < decimals; i++)
		whole *= 10;
	ns = ns / least + (ns % least >= (least + 1) / 2);
	to = digits_u64(to, ns / whole);
	*to++ = '.';
	digits_8(digits, ns % whole);
	return mempcpy(to, digits + 8 - decimals, decimals);
}

/* Makes a time positive. Returns whether it was negative. */
static bool cut_sign(uint64_t *ns)
{
	bool is_negative = (int64_t)*ns < 0;

	*ns = is_negative ? -*ns : *ns;
	return is_negative;
}

struct slice columns_short(const struct column_value *value, char room[COLUMNS_ROOM])
{
	uint64_t ns = value->number;
	char *end = room;

	switch (value->kind) {
	case COLUMN_WORD:
	case COLUMN_FLAG:
	case COLUMN_PAINTED:
		return value->text;
	case COLUMN_NUMBER:
		end = digits_u64(room, value->number);
		break;
	case COLUMN_US:
		end = digits_us(room, value->number);
		break;
	case COLUMN_MS:
		end = write_fixed(room, value->number, 6, value->decimals);
		break;
	case COLUMN_SECONDS:
		if (cut_sign(&ns))
			*end++ = '-';
		end = write_fixed(end, ns, 9, 6);
		break;
	case COLUMN_RATE:
		end = write_real(room, value->real ? 1 : 0, value->real);
		break;
	case COLUMN_PART:
		end = write_real(room, value->real ? 1 : 0, 100 * value->real);
		break;
	case COLUMN_PERCENT:
		end = stpcpy(write_real(room, 0, value->real), " %");
		break;
	case COLUMN_REAL:
		end = write_real(room, value->decimals, value->real);
		break;
	case COLUMN_BAR:
		end = write_real(room, 4, value->real);
		break;
	default:
		*end++ = '-';
	}
	return slice_between(room, end);
}

void columns_put(struct out *out, const struct column_value *value)
{
	char room[COLUMNS_ROOM];

	switch (value->kind) {
	case COLUMN_TEXT:
		out_visible(out, value->text.n ? value->text : slice_of("-"));
		break;
	case COLUMN_RAW:
		out_visible_json(out, value->text);
		break;
	case COLUMN_DURATION:
		out_text(out, value->is_more ? ">" : "");
		(value->is_more ? out_duration_text : out_duration)(out, value->number);
		break;
	case COLUMN_DIFFERENCE:
		out_text(out, value->real < 0 ? "-" : "");
		out_duration_text(out, fabs(value->real) < 0x1p64 ? (uint64_t)fabs(value->real) : UINT64_MAX);
		break;
	default:
		out_slice(out, columns_short(value, room));
	}
}

static bool is_percentage(const struct column *column)
{
	return column->value.kind == COLUMN_PART || column->value.kind == COLUMN_NULL;
}

/* The name in JSON; else the heading in lower case, without its unit. */
static void put_plain_heading(struct out *out, const struct column *column)
{
	if (column->name && !column->value.object && column->value.kind != COLUMN_PART) {
		out_text(out, column->name);
		return;
	}
	for (const char *c = column->heading; *c && *c != '('; c++)
		out_char(out, *c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
	out_text(out, is_percentage(column) ? "%" : "");
}

char columns_tabs(struct out *out, char before, const struct column *columns, size_t n, bool heads)
{
	for (size_t i = 0; i < n; i++) {
		struct column_value value = columns[i].value;

		if (!columns[i].heading || value.kind == COLUMN_BAR)
			continue;
		if (before)
			out_char(out, before);
		before = '\t';
		if (value.kind == COLUMN_WORD && !value.text.n)
			value.kind = COLUMN_ABSENT;
		if (!heads && value.kind == COLUMN_SECONDS && cut_sign(&value.number))
			out_char(out, '-');
		if (value.kind >= COLUMN_US && value.kind <= COLUMN_DURATION)
			value.kind = COLUMN_US;
		if (heads)
			put_plain_heading(out, &columns[i]);
		else
			columns_put(out, &value);
	}
	return before;
}

static void put_json(struct out *out, const struct column_value *value)
{
	switch (value->kind) {
	case COLUMN_TEXT:
		out_json(out, value->text);
		break;
	case COLUMN_WORD:
	case COLUMN_RAW:
		out_char(out, '"');
		out_utf8(out, value->text);
		out_char(out, '"');
		break;
	case COLUMN_JSON:
		out_slice(out, value->text);
		break;
	case COLUMN_US:
	case COLUMN_MS:
	case COLUMN_DURATION:
		out_us(out, value->number);
		break;
	case COLUMN_RATE:
		out_printf(out, "%.1f", value->real);
		break;
	case COLUMN_PART:
		out_printf(out, "%.4f", value->real);
		break;
	case COLUMN_REAL:
		out_printf(out, "%.*f", value->decimals, value->real);
		break;
	case COLUMN_DIFFERENCE:
		out_printf(out, "%.3f", value->real / 1000);
		break;
	case COLUMN_BOOL:
		out_text(out, value->number ? "true" : "false");
		break;
	case COLUMN_FLAG:
		out_text(out, "true");
		break;
	case COLUMN_NULL:
		out_text(out, "null");
		break;
	default:
		out_u64(out, value->number);
	}
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

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

char columns_members(struct out *out, char before, const struct column *columns, size_t n)
{
	const char *object = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct column *column = &columns[i];

		if (!column->name || column->value.kind == COLUMN_ABSENT || column->value.kind == COLUMN_SECONDS)
			continue;
		if (!is_same(object, column->value.object)) {
			out_text(out, object ? "}" : "");
			if (column->value.object)
				put_name(out, before, column->value.object);
			before = column->value.object ? '{' : before;
			object = column->value.object;
		}
		put_name(out, before, column->name);
		put_json(out, &column->value);
		before = ',';
	}
	out_text(out, object ? "}" : "");
	return before;
}

struct column_value *columns_add(struct columns *c, const char *heading, const char *name, struct column_value value)
{
	c->row = mem_room(c->row, c->row_n, &c->row_cap);
	c->row[c->row_n] = (struct column){heading, name, 0, value};
	return &c->row[c->row_n++].value;
}

/* What parts of the text of a table start with; NUL ends them. */
enum { TITLE = 't', NOTE = 'n', ROW = 'r', BOLD_ROW = 'R' };

/* Starts a part, and ends the one before it. */
static struct out *start_part(struct columns *c, const char *text)
{
	c->text.fd = OUT_MEMORY;
	if (c->text.len)
		out_char(&c->text, '\0');
	out_text(&c->text, text);
	return &c->text;
}

static struct out *start_line(struct columns *c, char mark)
{
	return start_part(c, (char[]){mark, '\0'});
}

struct out *columns_title(struct columns *c)
{
	return start_line(c, TITLE);
}

struct out *columns_note(struct columns *c)
{
	return start_line(c, NOTE);
}

static struct columns_shape *add_shape(struct columns *c, const struct column *column)
{
	struct out head = {.fd = OUT_MEMORY};
	struct columns_shape *shape;

	out_text(&head, column->heading);
	out_text(&head, is_percentage(column) ? "%" : "");
	out_char(&head, '\0');
	c->all = mem_room(c->all, c->n, &c->cap);
	shape = &c->all[c->n++];
	*shape = (struct columns_shape){.first = *column, .head = head.buf};
	return shape;
}

/* Keeps a row of a table. */
static void keep_row(struct columns *c)
{
	size_t next = 0;

	start_line(c, c->is_bold ? BOLD_ROW : ROW);
	for (const struct column *column = c->row; column < c->row + c->row_n; column++) {
		unsigned drop = column->value.spare ? UINT_MAX - column->value.spare : 0;
		struct columns_shape *shape;

		if (!column->heading)
			continue;
		shape = next < c->n ? &c->all[next] : add_shape(c, column);
		shape->drop = drop && shape->drop ? min_u64(shape->drop, drop) : drop;
		next++;
		start_part(c, column->value.sgr ? column->value.sgr : "");
		columns_put(start_part(c, ""), &column->value);
	}
}

void columns_row(struct columns *c, const struct column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		columns_add(c, NULL, NULL, columns[i].value);
		c->row[c->row_n - 1] = columns[i];
	}
	if (c->is_json) {
		if (c->is_array)
			out_char(c->out, c->has_heads ? ',' : '[');
		columns_members(c->out, '{', c->row, c->row_n);
		out_text(c->out, c->is_array ? "}" : "}\n");
	} else if (c->terminal.plain) {
		for (int heads = !c->has_heads; heads >= 0; heads--) {
			columns_tabs(c->out, 0, c->row, c->row_n, heads);
			out_char(c->out, '\n');
		}
	} else {
		keep_row(c);
	}
	c->has_heads = true;
	c->row_n = 0;
	c->is_bold = false;
}

static struct slice next_part(struct slice *text)
{
	struct slice part = slice_cut(text, strlen(text->p));

	slice_cut(text, 1);
	return part;
}

static bool is_row(struct slice mark)
{
	return *mark.p == ROW || *mark.p == BOLD_ROW;
}

/* Whether a column has names, which may be shortened. */
static bool is_text(const struct columns_shape *s)
{
	const struct column_value *value = &s->first.value;

	return value->least || (s->first.width > 0 && (value->kind == COLUMN_TEXT || value->kind == COLUMN_RAW));
}

static bool is_bar(const struct columns_shape *s)
{
	return s->first.value.kind == COLUMN_BAR;
}

static bool is_to_the_right(const struct columns_shape *s)
{
	return s->first.width < 0 ||
	       (!s->first.width && !is_text(s) && !is_bar(s) && s->first.value.kind != COLUMN_PAINTED);
}

/* Makes the columns as wide as their widest cells. */
static void measure(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct columns_shape *s = &c->all[i];
		size_t head = utf8_count(slice_of(s->head)), indent = i ? 0 : min_u64(c->indent, head);

		s->width = max_u64(head - indent, is_bar(s) ? BAR_LEAST : abs(s->first.width));
	}
	for (struct slice text = out_contents(&c->text); text.n;) {
		if (!is_row(next_part(&text)))
			continue;
		for (struct columns_shape *s = c->all; s < c->all + c->n; s++) {
			struct slice cell = (next_part(&text), next_part(&text));

			s->any |= !slice_is(cell, "0");
			if (is_bar(s) || s->first.value.kind == COLUMN_PAINTED)
				continue;
			if (!is_text(s) || s->first.width <= 0 || c->terminal.width == TERMINAL_WIDE)
				s->width = max_u64(s->width, utf8_count(cell));
		}
	}
}

/* With names of at most this many characters, or of the least of their columns if that is more. */
static size_t width_of(const struct columns_shape *s, size_t name)
{
	size_t least = s->first.value.least;

	return least ? min_u64(s->width, max_u64(name, least)) : s->width;
}

static size_t total(const struct columns *c, size_t name)
{
	size_t sum = c->indent;

	for (size_t i = 0; i < c->n; i++)
		if (!c->all[i].dropped)
			sum += width_of(&c->all[i], name) + 1;
	return sum ? sum - 1 : 0;
}

/* The column to drop next; NULL if all others must stay. */
static struct columns_shape *next_to_drop(struct columns *c)
{
	struct columns_shape *next = NULL;

	for (struct columns_shape *s = c->all; s < c->all + c->n; s++)
		if (!s->dropped && s->drop > (next ? next->drop : 0))
			next = s;
	return next;
}

/* The longest that names can be. */
static size_t longest_name(const struct columns *c)
{
	size_t name = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->all[i].first.value.least)
			name = max_u64(name, c->all[i].width);
	while (name > SHORTEST && total(c, name) > c->terminal.width)
		name--;
	return name;
}

/* Drops columns, then shortens names; what is left is for a bar, which is worth less than the names in full. */
static void fit(struct columns *c)
{
	const size_t width = c->terminal.width;
	struct columns_shape *next;
	size_t name, room;

	for (struct columns_shape *s = c->all; s < c->all + c->n; s++)
		s->dropped = s->first.value.hides_zeros && !s->any;
	for (struct columns_shape *s = c->all; s < c->all + c->n; s++)
		s->dropped |= is_bar(s) && s->drop && total(c, SIZE_MAX) > width;
	while (total(c, 0) > width && (next = next_to_drop(c)))
		next->dropped = true;
	for (struct columns_shape *s = c->all; s < c->all + c->n && total(c, 0) > width; s++)
		s->first.value.least = min_u64(s->first.value.least, SHORTEST);
	name = longest_name(c);
	room = max_u64(width, total(c, name)) - total(c, name);
	for (struct columns_shape *s = c->all; s < c->all + c->n; s++) {
		s->width = width_of(s, name);
		if (is_bar(s))
			s->width = min_u64(s->width + room, s->first.value.decimals);
	}
}

/* A line that is being printed. */
struct line {
	const struct terminal *terminal;
	struct out text;
	size_t owed; /* blanks before the next text: none are written at the end of a line */
};

static void put_cell(struct line *line, const struct columns_shape *s, struct slice text, bool is_bold, const char *sgr)
{
	bool is_painted = s->first.value.kind == COLUMN_PAINTED;
	size_t n, blanks;

	n = is_painted ? s->width : min_u64(utf8_count(text), s->width);
	blanks = s->width - n;
	if (is_to_the_right(s)) {
		line->owed += blanks;
		blanks = 0;
	}
	if (text.n) {
		for (; line->owed; line->owed--)
			out_char(&line->text, ' ');
		if (is_bold)
			terminal_paint(line->terminal, &line->text, TERMINAL_BOLD);
		if (*sgr)
			terminal_paint(line->terminal, &line->text, sgr);
		if (is_painted)
			out_slice(&line->text, text);
		else
			out_shortened(&line->text, text, n);
		if (is_bold || *sgr)
			terminal_plain(line->terminal, &line->text);
	}
	line->owed += blanks + 1;
}

/* Stars for a part of the bar's column. */
static struct slice bar_of(const struct columns_shape *s, struct slice part)
{
	static const char stars[] = "****************************************";
	size_t n = s->width * strtod(part.p, NULL) + 0.5;

	return (struct slice){stars, min_u64(n, strlen(stars))};
}

static void end_line(struct line *line, struct out *out)
{
	out_clipped(out, out_contents(&line->text), line->terminal->width);
	out_char(out, '\n');
	line->text.len = line->owed = 0;
}

static void put_title(struct line *line, struct slice text)
{
	terminal_paint(line->terminal, &line->text, TERMINAL_BOLD);
	out_shortened(&line->text, text, min_u64(utf8_count(text), line->terminal->width));
	terminal_plain(line->terminal, &line->text);
}

/* The first heading is also above the indentation of the rows. */
static void put_heads(const struct columns *c, struct line *line, struct out *out)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++) {
		struct columns_shape s = c->all[i];
		const char *sgr = s.first.value.heading_sgr;

		if (s.dropped)
			continue;
		if (!line->owed && !line->text.len)
			s.width += c->indent;
		put_cell(line, &s, slice_of(s.head), false, sgr ? sgr : TERMINAL_HEADS);
		any |= *s.head;
	}
	if (any)
		end_line(line, out);
	line->owed = 0;
}

static void print_lines(const struct columns *c, struct out *out)
{
	struct line line = {.terminal = &c->terminal, .text.fd = OUT_MEMORY};
	bool has_heads = false, is_first = true;

	for (struct slice text = out_contents(&c->text), mark; text.n; end_line(&line, out), is_first = false) {
		mark = next_part(&text);
		if (*mark.p == TITLE) {
			out_text(out, is_first ? "" : "\n");
			put_title(&line, slice_from(mark, 1));
			has_heads = false;
			continue;
		}
		if (!has_heads)
			put_heads(c, &line, out);
		has_heads = true;
		if (*mark.p == NOTE) {
			out_slice(&line.text, slice_from(mark, 1));
			continue;
		}
		line.owed = c->indent;
		for (size_t i = 0; i < c->n; i++) {
			struct slice sgr = next_part(&text), cell = next_part(&text);
			const struct columns_shape *s = &c->all[i];

			if (!s->dropped)
				put_cell(&line, s, is_bar(s) ? bar_of(s, cell) : cell, *mark.p == BOLD_ROW, sgr.p);
		}
	}
	out_close(&line.text);
}

void columns_end(struct columns *c)
{
	if (c->is_array) {
		out_text(c->out, c->has_heads ? "]" : "[]");
		c->has_heads = false;
	}
	if (c->n) {
		start_part(c, "");
		measure(c);
		fit(c);
		print_lines(c, c->out);
	}
	for (size_t i = 0; i < c->n; i++)
		free(c->all[i].head);
	free(c->all);
	free(c->row);
	out_close(&c->text);
	c->all = NULL;
	c->row = NULL;
	c->n = c->cap = c->row_n = c->row_cap = 0;
}
