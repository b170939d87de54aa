/* SPDX-License-Identifier: BSD-3-Clause */
#include "group.h"

#include "json.h"

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

/* The value of a member of a member of … the line. */
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

struct slice group_of(struct group *group, const struct traceline *line, struct slice text, struct slice related)
{
	struct out *out = &group->text;

	if (!group->n)
		return slice_of("");
	out->len = 0;
	for (unsigned i = 0; i < group->n; i++) {
		struct slice key = slice_of(group->keys[i].name), value;

		if (find(line, text, key.p, &value))
			group->keys[i].found = true;
		else if (!member(related, key, &value))
			value = slice_of("null");
		out_char(out, i ? ',' : '{');
		out_json(out, key);
		out_char(out, ':');
		out_slice(out, value);
	}
	out_char(out, '}');
	return out_kept(out);
}
