/* SPDX-License-Identifier: BSD-3-Clause */
#include "names.h"

struct slice names_family(const struct rows *rows, uint32_t type)
{
	struct slice letter = rows_letter(rows, type);
	unsigned n = 0;

	for (uint32_t i = 0; i < rows->types.n; i++)
		n += slice_equal(rows_letter(rows, i), letter);
	return n > 1 ? rows_family(rows, type) : (struct slice){"", 0};
}

bool names_member(struct json *j, struct slice *key, struct slice *value)
{
	if (!json_key(j, key) || !json_value(j, value))
		return false;
	*value = slice_is(*value, "null") ? slice_of("-") : json_unquoted(*value);
	return true;
}

void names_group(struct out *out, struct slice group, const char *after)
{
	const char *separator = "";
	struct slice key, value;
	struct json j;

	if (!group.n)
		return;
	json_init(&j, group.p, group.n);
	for (json_object(&j); names_member(&j, &key, &value); separator = ", ") {
		out_text(out, separator);
		out_visible_json(out, key);
		out_char(out, '=');
		out_visible_json(out, value);
	}
	out_text(out, after);
}

void names_row(struct out *out, const struct rows *rows, const struct latency *row)
{
	names_group(out, rows_group(rows, row->group), ": ");
	out_visible_json(out, rows_letter(rows, row->type));
	if (names_family(rows, row->type).n) {
		out_char(out, ' ');
		out_visible_json(out, names_family(rows, row->type));
	}
	if (!rows_is_transition(row)) {
		out_text(out, rows_is_life(row) ? " whole life" : " to reply");
		return;
	}
	out_char(out, ' ');
	out_visible_json(out, rows->states.all[row->from]);
	out_text(out, " -> ");
	out_visible_json(out, rows->states.all[row->to]);
}
