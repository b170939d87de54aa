/* SPDX-License-Identifier: BSD-3-Clause */
#include "group.h"

#include "json.h"
#include "mem.h"

/* The key of a span line's io that this is, with or without "io." before it; else LIFT_KEYS. */
static enum lift_key lift_key_of(const char *name)
{
	enum lift_key key = 0;

	if (strncmp(name, "io.", 3) == 0)
		name += 3;
	while (key < LIFT_KEYS && strcmp(lift_keys[key], name) != 0)
		key++;
	return key;
}

void group_add_key(struct group *group, const char *name)
{
	group->keys = mem_room(group->keys, group->n, &group->cap);
	group->keys[group->n++] = (struct group_key){.name = name, .lift = lift_key_of(name)};
}

bool group_is_lifted(const struct group *group)
{
	for (size_t i = 0; i < group->n; i++)
		if (group->keys[i].lift != LIFT_KEYS)
			return true;
	return false;
}

/* The value of an object's member, as it is written. */
static bool member(struct slice text, struct slice name, struct slice *value)
{
	struct slice key;
	struct json j;

	if (!text.n || text.p[0] != '{')
		return false;
	json_init(&j, text.p, text.n);
	for (json_object(&j); json_key(&j, &key); json_skip(&j))
		if (slice_equal(key, name))
			return json_value(&j, value);
	return false;
}

/* The same for an argument of a line, which is parsed already. */
static bool argument(const struct traceline *line, struct slice name, struct slice *value)
{
	for (unsigned i = 0; i < line->num_args; i++)
		if (slice_equal(line->args[i].key, name)) {
			*value = line->args[i].value;
			return true;
		}
	return false;
}

/* The value at a path of keys with dots between them. */
static bool find(const struct traceline *line, struct slice text, const char *path, struct slice *value)
{
	bool in_args = strncmp(path, "args.", 5) == 0;

	*value = text;
	for (path += in_args ? 5 : 0;; path++, in_args = false) {
		struct slice name = {path, strcspn(path, ".")};

		if (!(in_args ? argument(line, name, value) : member(*value, name, value)))
			return false;
		path += name.n;
		if (!*path)
			return true;
	}
}

/* Starts the text of a group. False: it has no keys, and an empty text. */
static bool start(struct group *group)
{
	group->text.len = 0;
	return group->n;
}

/* The next key of the group; its value follows. */
static void put_key(struct out *out, const char *name)
{
	out_char(out, out->len ? ',' : '{');
	out_json(out, slice_of(name));
	out_char(out, ':');
}

struct slice group_of(struct group *group, const struct traceline *line, struct slice text, struct slice related)
{
	struct out *out = &group->text;

	if (!start(group))
		return slice_of("");
	for (size_t i = 0; i < group->n; i++) {
		struct group_key *key = &group->keys[i];
		struct slice value;

		if (find(line, text, key->name, &value))
			key->found = true;
		else if (!member(related, slice_of(key->name), &value))
			value = slice_of("null");
		put_key(out, key->name);
		out_slice(out, value);
	}
	out_char(out, '}');
	return out_contents(out);
}

/* Whether a group has a value for a key, and it is not null. */
static bool has_value(struct slice group, const char *name, struct slice *value)
{
	return member(group, slice_of(name), value) && !slice_is(*value, "null");
}

struct slice group_of_span(struct group *group, struct slice line, const struct lift *lift, struct slice parent)
{
	struct out *out = &group->text;

	if (!start(group))
		return slice_of("");
	for (size_t i = 0; i < group->n; i++) {
		struct group_key *key = &group->keys[i];
		struct slice value;

		put_key(out, key->name);
		if (has_value(line, key->name, &value))
			out_slice(out, value);
		else if (key->lift != LIFT_KEYS && lift_write(out, lift, key->lift))
			key->found = true;
		else if (has_value(parent, key->name, &value))
			out_slice(out, value);
		else
			out_text(out, "null");
	}
	out_char(out, '}');
	return out_contents(out);
}
