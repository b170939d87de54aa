/* SPDX-License-Identifier: BSD-3-Clause */
#include "cells.h"

#include "count.h"
#include "names.h"
#include "print.h"

struct cells cells_start(struct output *to, const struct interval *interval)
{
	return (struct cells){.to = to, .interval = interval, .t.terminal = &to->terminal};
}

static void start_row(struct cells *c)
{
	if (!c->t.n)
		print_interval(&c->to->out, c->interval, c->t.terminal);
	tabular_row(&c->t, false);
}

/* Writes the interval and these columns after `before`, and ends the line. */
static void put_tabs(struct cells *c, char before, const struct column *columns, size_t n, bool heads)
{
	const struct column interval[] = {
		{"begin", NULL, 0, columns_us(c->interval->from)},
		{"end", NULL, 0, columns_us(c->interval->to)},
	};

	if (c->interval->to)
		before = columns_tabs(&c->to->out, before, interval, COUNT(interval), heads);
	columns_tabs(&c->to->out, before, columns, n, heads);
	out_char(&c->to->out, '\n');
	c->to->has_heads = true;
}

/* What is done with the columns of a name. */
typedef void each_column(struct cells *c, const struct column *column);

static void put_cell(struct cells *c, const struct column *column)
{
	tabular_put(&c->t, column, 1);
}

static void put_tab(struct cells *c, const struct column *column)
{
	columns_tabs(&c->to->out, 0, column, 1, false);
	out_char(&c->to->out, '\t');
}

static void put_head(struct cells *c, const struct column *column)
{
	columns_tabs(&c->to->out, 0, column, 1, true);
	out_char(&c->to->out, '\t');
}

static void put_text(struct cells *c, each_column *put, struct slice heading, struct slice value)
{
	struct out head = {.fd = OUT_MEMORY};

	out_visible_json(&head, heading);
	out_char(&head, '\0');
	put(c, &(struct column){head.buf, .value = columns_least(TABULAR_LEAST, columns_raw(value))});
	out_close(&head);
}

/* The values of its group; the letter of its type, and its family if that is shown. */
static void put_name(struct cells *c, each_column *put, const struct rows *rows, const struct rows_name *name)
{
	struct slice group = rows_group(rows, name->group), family = names_family(rows, name->type), key, value;
	struct out object = {.fd = OUT_MEMORY};
	struct json j;

	json_init(&j, group.p, group.n);
	for (json_object(&j); group.n && names_member(&j, &key, &value);)
		put_text(c, put, key, value);
	out_slice(&object, rows_letter(rows, name->type));
	out_text(&object, family.n ? " " : "");
	out_slice(&object, family);
	put_text(c, put, slice_of("object"), out_contents(&object));
	out_close(&object);
}

void cells_named_row(struct cells *c, const struct rows *rows, const struct rows_name *name,
		     const struct column *columns, size_t n)
{
	struct out *out = &c->to->out;

	if (output_is_human(c->to)) {
		start_row(c);
		put_name(c, put_cell, rows, name);
		tabular_put(&c->t, columns, n);
	} else if (output_is_plain(c->to)) {
		if (!c->to->has_heads) {
			put_name(c, put_head, rows, name);
			put_tabs(c, 0, columns, n, true);
		}
		put_name(c, put_tab, rows, name);
		put_tabs(c, 0, columns, n, false);
	} else {
		out_char(out, '{');
		names_type(out, rows, name->group, name->type);
		print_interval_members(out, c->interval);
		columns_members(out, ',', columns, n);
		out_text(out, "}\n");
	}
}

void cells_end(struct cells *c)
{
	if (!c->t.n)
		return;
	tabular_print(&c->t, &c->to->out);
	if (c->interval->to)
		out_char(&c->to->out, '\n');
}
