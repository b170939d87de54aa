/* SPDX-License-Identifier: BSD-3-Clause */
#include "tabular.h"

#include <limits.h>
#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "utf8.h"

enum {
	SHORTEST = 3,   /* a name with an ellipsis, when there are no columns to drop */
	BAR_LEAST = 10, /* a shorter bar says little */
	BAR_MOST = 20,
};

/* What lines of the text start with; NUL ends their parts. */
enum { HEADING = 'h', ROW = 'r', BOLD_ROW = 'R' };

struct tabular_column *tabular_column(struct tabular *t, enum tabular_kind kind, const char *head)
{
	struct tabular_column *column;

	t->columns = mem_room(t->columns, t->n, &t->cap);
	column = &t->columns[t->n++];
	*column = (struct tabular_column){.kind = kind,
					  .head = mem_copy(slice_of(head)),
					  .least = TABULAR_LEAST,
					  .most = BAR_MOST,
					  .width = utf8_count(slice_of(head))};
	return column;
}

/* Ends the part that is being written, unless it is the first. */
static void end_part(struct tabular *t)
{
	t->text.fd = OUT_MEMORY;
	if (t->text.len)
		out_char(&t->text, '\0');
}

struct out *tabular_heading(struct tabular *t)
{
	end_part(t);
	out_char(&t->text, HEADING);
	return &t->text;
}

void tabular_row(struct tabular *t, bool bold)
{
	end_part(t);
	t->next = 0;
	out_char(&t->text, bold ? BOLD_ROW : ROW);
}

struct out *tabular_cell(struct tabular *t, const char *sgr)
{
	end_part(t);
	out_text(&t->text, sgr ? sgr : "");
	end_part(t);
	return &t->text;
}

void tabular_bar(struct tabular *t, const char *sgr, double part)
{
	out_printf(tabular_cell(t, sgr), "%.4f", part);
}

static struct tabular_column *add_column(struct tabular *t, const struct column *from)
{
	struct out head = {.fd = OUT_MEMORY};
	struct tabular_column *column;

	columns_put_heading(&head, from);
	out_char(&head, '\0');
	column = tabular_column(t, from->value.least ? TABULAR_NAME : TABULAR_NUMBER, head.buf);
	column->least = from->value.least;
	column->sgr = from->value.heading_sgr;
	column->hides_zeros = from->value.hides_zeros;
	out_close(&head);
	return column;
}

void tabular_put(struct tabular *t, const struct column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned spare = columns[i].value.spare;
		struct tabular_column *column;

		if (!columns[i].heading)
			continue;
		column = t->next < t->n ? &t->columns[t->next] : add_column(t, &columns[i]);
		column->drop = !spare ? 0 : column->drop ? min_u64(column->drop, UINT_MAX - spare) : UINT_MAX - spare;
		t->next++;
		columns_put(tabular_cell(t, columns[i].value.sgr), &columns[i].value);
	}
}

static struct slice next_part(struct slice *text)
{
	struct slice part = slice_cut(text, strlen(text->p));

	slice_cut(text, 1);
	return part;
}

/* Makes the columns as wide as their widest cells. */
static void measure(struct tabular *t)
{
	for (struct slice text = out_contents(&t->text); text.n;) {
		struct slice line = next_part(&text);

		if (*line.p == HEADING)
			continue;
		for (size_t i = 0; i < t->n; i++) {
			struct tabular_column *column = &t->columns[i];
			struct slice cell = (next_part(&text), next_part(&text));

			column->any |= !slice_is(cell, "0");
			if (column->kind == TABULAR_BAR)
				column->width = max_u64(column->width, BAR_LEAST);
			else
				column->width = max_u64(column->width, utf8_count(cell));
		}
	}
}

/* With names of at most this many characters, or of the least of their columns if that is more. */
static size_t width_of(const struct tabular_column *column, size_t name)
{
	return column->kind == TABULAR_NAME ? min_u64(column->width, max_u64(name, column->least)) : column->width;
}

static size_t total(const struct tabular *t, size_t name)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!t->columns[i].dropped)
			sum += width_of(&t->columns[i], name) + 1;
	return sum ? sum - 1 : 0;
}

/* The column to drop next; NULL if all others must stay. */
static struct tabular_column *next_to_drop(struct tabular *t)
{
	struct tabular_column *next = NULL;

	for (size_t i = 0; i < t->n; i++) {
		struct tabular_column *column = &t->columns[i];

		if (!column->dropped && column->drop > (next ? next->drop : 0))
			next = column;
	}
	return next;
}

/* The longest that names can be. */
static size_t longest_name(const struct tabular *t)
{
	size_t name = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->columns[i].kind == TABULAR_NAME)
			name = max_u64(name, t->columns[i].width);
	while (name > SHORTEST && total(t, name) > t->terminal->width)
		name--;
	return name;
}

/* A bar is worth less than the names in full. */
static void drop_bars(struct tabular *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->columns[i].kind == TABULAR_BAR && t->columns[i].drop && total(t, SIZE_MAX) > t->terminal->width)
			t->columns[i].dropped = true;
}

/* Drops columns, then shortens names; what is left is for the bar. */
static void fit(struct tabular *t)
{
	struct tabular_column *next;
	size_t name, room;

	for (size_t i = 0; i < t->n; i++)
		t->columns[i].dropped = t->columns[i].hides_zeros && !t->columns[i].any;
	drop_bars(t);
	while (total(t, 0) > t->terminal->width && (next = next_to_drop(t)))
		next->dropped = true;
	for (size_t i = 0; i < t->n && total(t, 0) > t->terminal->width; i++)
		t->columns[i].least = SHORTEST;
	name = longest_name(t);
	room = max_u64(t->terminal->width, total(t, name)) - total(t, name);
	for (size_t i = 0; i < t->n; i++) {
		struct tabular_column *column = &t->columns[i];

		column->width = width_of(column, name);
		if (column->kind == TABULAR_BAR)
			column->width = min_u64(column->width + room, column->most);
	}
}

/* A line that is being printed. */
struct line {
	const struct terminal *terminal;
	struct out text;
	size_t owed; /* blanks before the next text: none are written at the end of a line */
};

static void put_text(struct line *line, struct slice text, size_t width, bool bold, struct slice sgr)
{
	if (!text.n)
		return;
	for (; line->owed; line->owed--)
		out_char(&line->text, ' ');
	if (bold)
		terminal_paint(line->terminal, &line->text, TERMINAL_BOLD);
	if (sgr.n)
		terminal_paint(line->terminal, &line->text, sgr.p);
	out_shortened(&line->text, text, width);
	if (bold || sgr.n)
		terminal_plain(line->terminal, &line->text);
}

/* Stars for a part of the bar's column. */
static struct slice bar_of(const struct tabular_column *column, struct slice part)
{
	static const char stars[] = "****************************************";
	size_t n = column->width * strtod(part.p, NULL) + 0.5;

	return (struct slice){stars, min_u64(n, strlen(stars))};
}

/* A cell, or a head. */
static void put_cell(struct line *line, const struct tabular_column *column, struct slice text, bool bold,
		     struct slice sgr)
{
	size_t n = min_u64(utf8_count(text), column->width), blanks = column->width - n;

	if (column->kind == TABULAR_NUMBER)
		line->owed += blanks;
	put_text(line, text, n, bold, sgr);
	if (column->kind != TABULAR_NUMBER)
		line->owed += blanks;
	line->owed++;
}

static void end_line(struct line *line, struct out *out)
{
	out_clipped(out, out_contents(&line->text), line->terminal->width);
	out_char(out, '\n');
	line->text.len = line->owed = 0;
}

static void put_heading(struct line *line, struct slice text)
{
	put_text(line, text, min_u64(utf8_count(text), line->terminal->width), true, (struct slice){});
}

static void put_heads(const struct tabular *t, struct line *line)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->columns[i].dropped)
			put_cell(line, &t->columns[i], slice_of(t->columns[i].head), false,
				 slice_of(t->columns[i].sgr ? t->columns[i].sgr : TERMINAL_HEADS));
}

static void put_row(const struct tabular *t, struct line *line, struct slice *text, bool bold)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct tabular_column *column = &t->columns[i];
		struct slice sgr = next_part(text), cell = next_part(text);

		if (!column->dropped)
			put_cell(line, column, column->kind == TABULAR_BAR ? bar_of(column, cell) : cell, bold, sgr);
	}
}

static void print_lines(const struct tabular *t, struct out *out)
{
	struct line line = {.terminal = t->terminal, .text.fd = OUT_MEMORY};
	bool has_heads = false;

	for (struct slice text = out_contents(&t->text), mark; text.n; end_line(&line, out)) {
		const char *start = text.p;

		mark = next_part(&text);
		if (*mark.p == HEADING) {
			out_text(out, start == t->text.buf ? "" : "\n");
			put_heading(&line, slice_from(mark, 1));
			has_heads = false;
			continue;
		}
		if (!has_heads) {
			put_heads(t, &line);
			end_line(&line, out);
			has_heads = true;
		}
		put_row(t, &line, &text, *mark.p == BOLD_ROW);
	}
	out_close(&line.text);
}

void tabular_print(struct tabular *t, struct out *out)
{
	end_part(t);
	measure(t);
	fit(t);
	print_lines(t, out);
	for (size_t i = 0; i < t->n; i++)
		free(t->columns[i].head);
	free(t->columns);
	out_close(&t->text);
	*t = (struct tabular){.terminal = t->terminal};
}
