/* SPDX-License-Identifier: BSD-3-Clause */
#include "cells.h"

#include "names.h"
#include "print.h"

static void start_row(struct cells *c)
{
	if (!c->t.n)
		print_interval(c->out, c->interval, c->t.terminal);
	tabular_row(&c->t, false);
}

void cells_row(struct cells *c, const struct column *columns, size_t first, size_t n)
{
	if (c->t.terminal) {
		start_row(c);
		tabular_put(&c->t, columns, n);
		return;
	}
	columns_members(c->out, '{', columns, first);
	print_interval_members(c->out, c->interval);
	columns_members(c->out, ',', columns + first, n - first);
	out_text(c->out, "}\n");
}

static void put_text(struct tabular *t, struct slice heading, struct slice value)
{
	struct out head = {.fd = OUT_MEMORY};

	out_visible_json(&head, heading);
	out_char(&head, '\0');
	tabular_put(t, &(struct column){head.buf, .value = columns_least(TABULAR_LEAST, columns_raw(value))}, 1);
	out_close(&head);
}

/* The values of its group; the letter of its type, and its family if that is shown. */
static void put_name(struct tabular *t, const struct rows *rows, const struct rows_name *name)
{
	struct slice group = rows_group(rows, name->group), family = names_family(rows, name->type), key, value;
	struct out object = {.fd = OUT_MEMORY};
	struct json j;

	json_init(&j, group.p, group.n);
	for (json_object(&j); group.n && names_member(&j, &key, &value);)
		put_text(t, key, value);
	out_slice(&object, rows_letter(rows, name->type));
	out_text(&object, family.n ? " " : "");
	out_slice(&object, family);
	put_text(t, slice_of("object"), out_contents(&object));
	out_close(&object);
}

void cells_named_row(struct cells *c, const struct rows *rows, const struct rows_name *name,
		     const struct column *columns, size_t n)
{
	if (c->t.terminal) {
		start_row(c);
		put_name(&c->t, rows, name);
		tabular_put(&c->t, columns, n);
		return;
	}
	out_char(c->out, '{');
	names_type(c->out, rows, name->group, name->type);
	print_interval_members(c->out, c->interval);
	columns_members(c->out, ',', columns, n);
	out_text(c->out, "}\n");
}

void cells_end(struct cells *c)
{
	bool any = c->t.n;

	if (c->t.terminal)
		tabular_print(&c->t, c->out);
	if (any && c->interval->to)
		out_char(c->out, '\n');
}
