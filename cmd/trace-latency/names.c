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

void names_keys(struct out *out, struct slice group)
{
	const char *separator = "";
	struct slice key, value;
	struct json j;

	if (!group.n)
		out_text(out, "nothing");
	json_init(&j, group.p, group.n);
	for (json_object(&j); group.n && names_member(&j, &key, &value); separator = ", ") {
		out_text(out, separator);
		out_visible_json(out, key);
	}
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

static void write_member(struct out *out, const char *key, struct slice raw)
{
	out_text(out, key);
	out_slice(out, raw);
	out_char(out, '"');
}

static void write_object(struct out *out, const struct rows *rows, uint32_t group, uint32_t type)
{
	struct slice name = rows_group(rows, group);

	if (name.n) {
		out_text(out, "\"group\":");
		out_slice(out, name);
		out_char(out, ',');
	}
	write_member(out, "\"object\":\"", rows_letter(rows, type));
}

static void write_family(struct out *out, const struct rows *rows, uint32_t type)
{
	struct slice family = rows_family(rows, type);

	if (family.n)
		write_member(out, ",\"family\":\"", family);
}

void names_type(struct out *out, const struct rows *rows, uint32_t group, uint32_t type)
{
	write_object(out, rows, group, type);
	write_family(out, rows, type);
}

void names_key(struct out *out, const struct rows *rows, const struct latency *row)
{
	write_object(out, rows, row->group, row->type);
	if (!rows_is_transition(row)) {
		out_text(out, rows_is_life(row) ? ",\"life\":true" : ",\"to_reply\":true");
	} else {
		write_member(out, ",\"from\":\"", rows->states.all[row->from]);
		write_member(out, ",\"to\":\"", rows->states.all[row->to]);
	}
	write_family(out, rows, row->type);
}
