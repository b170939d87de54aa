/* SPDX-License-Identifier: BSD-3-Clause */
#include "cells.h"

#include <stdlib.h>

#include "json.h"
#include "table.h"
#include "utf8.h"

/* Returns the number of characters. */
static size_t write_cell(struct out *out, struct slice raw)
{
	size_t from = out->len;

	rows_write_text(out, raw);
	for (size_t i = from; i < out->len; i++)
		if (out->buf[i] == ' ')
			out->buf[i] = '_';
	return utf8_count(slice_from(out_contents(out), from));
}

void cells_put(struct out *out, struct slice raw, size_t width)
{
	for (size_t n = write_cell(out, raw); n <= width; n++)
		out_char(out, ' ');
}

static void widen(struct cells *c, size_t column, struct slice raw)
{
	size_t *widest = table_at(c->widths, c->n, c->cap, column), width;

	c->text.fd = OUT_MEMORY;
	c->text.len = 0;
	width = write_cell(&c->text, raw);
	if (width > *widest)
		*widest = width;
}

void cells_measure(struct cells *c, struct slice group)
{
	struct slice key, value;
	size_t column = 0;
	struct json j;

	json_init(&j, group.p, group.n);
	for (json_object(&j); group.n && rows_next_member(&j, &key, &value); column++) {
		widen(c, column, key);
		widen(c, column, value);
	}
}

void cells_put_group(const struct cells *c, struct out *out, struct slice group, bool keys)
{
	struct slice key, value;
	size_t column = 0;
	struct json j;

	json_init(&j, group.p, group.n);
	for (json_object(&j); group.n && rows_next_member(&j, &key, &value); column++)
		cells_put(out, keys ? key : value, c->widths[column]);
}

/* Wide enough for a letter and a family. */
enum { TYPE_WIDTH = 11 };

void cells_put_type_head(struct out *out)
{
	cells_put(out, slice_of("object"), TYPE_WIDTH);
}

void cells_put_type(struct out *out, const struct rows *rows, uint32_t type)
{
	struct out name = {.fd = OUT_MEMORY};
	struct slice family = rows_shown_family(rows, type);

	out_slice(&name, rows_letter(rows, type));
	out_text(&name, family.n ? " " : "");
	out_slice(&name, family);
	cells_put(out, out_contents(&name), TYPE_WIDTH);
	out_close(&name);
}

void cells_free(struct cells *c)
{
	free(c->widths);
	out_close(&c->text);
	*c = (struct cells){};
}
