/* SPDX-License-Identifier: BSD-3-Clause */
#include "cells.h"

#include "json.h"
#include "names.h"

void cells_add_columns(struct tabular *t, struct slice group)
{
	struct out head = {.fd = OUT_MEMORY};
	struct slice key, value;
	struct json j;

	json_init(&j, group.p, group.n);
	for (json_object(&j); group.n && names_member(&j, &key, &value);) {
		head.len = 0;
		names_text(&head, key);
		out_char(&head, '\0');
		tabular_column(t, TABULAR_NAME, head.buf);
	}
	tabular_column(t, TABULAR_NAME, "object");
	out_close(&head);
}

void cells_put(struct tabular *t, const struct rows *rows, const struct rows_name *name)
{
	struct slice group = rows_group(rows, name->group), family = names_family(rows, name->type), key, value;
	struct out *cell;
	struct json j;

	json_init(&j, group.p, group.n);
	for (json_object(&j); group.n && names_member(&j, &key, &value);)
		names_text(tabular_cell(t, NULL), value);
	cell = tabular_cell(t, NULL);
	names_text(cell, rows_letter(rows, name->type));
	out_text(cell, family.n ? " " : "");
	names_text(cell, family);
}

void cells_put_number(struct tabular *t, const char *sgr, double number)
{
	out_printf(tabular_cell(t, sgr), number ? "%.1f" : "0", number);
}
