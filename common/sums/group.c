/* SPDX-License-Identifier: BSD-3-Clause */
#include "group.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "table.h"

/* The key of a span line's io that this is, with or without "io." before it; else REQUEST_IO_KEYS. */
static enum request_io_key io_key_of(const char *name)
{
	enum request_io_key key = 0;

	if (strncmp(name, "io.", 3) == 0)
		name += 3;
	while (key < REQUEST_IO_KEYS && strcmp(request_io_keys[key], name) != 0)
		key++;
	return key;
}

void group_start(struct group *group, const char *const *names, size_t n, struct intern *texts, uint32_t max)
{
	*group = (struct group){.n = n, .texts = texts, .max = max, .scratch.fd = OUT_MEMORY};
	group->keys = mem_array(n, sizeof(*group->keys));
	group->tuple = mem_array(n, sizeof(*group->tuple));
	for (size_t i = 0; i < n; i++) {
		group->keys[i] = (struct group_key){
			.name = names[i], .io = io_key_of(names[i]), .host = strcmp(names[i], "host") == 0};
		/* a trace may well have none */
		group->keys[i].found = group->keys[i].host;
		group->has_io |= group->keys[i].io != REQUEST_IO_KEYS;
	}
	if (!n)
		intern_add(texts, (struct slice){"", 0});
}

/* A string of a line, as it is written there. */
static struct slice with_quotes(struct slice text)
{
	return text.p ? (struct slice){text.p - 1, text.n + 2} : text;
}

/* The value of a member of a line, as it is written; empty if it has no such member, here and below. */
static struct slice line_member(const struct traceline *line, struct slice text, struct slice name)
{
	if (slice_is(name, "lcore"))
		return line->lcore;
	if (slice_is(name, "size"))
		return line->size;
	if (slice_is(name, "owner"))
		return with_quotes(line->owner);
	if (slice_is(name, "poller"))
		return with_quotes(line->poller);
	if (slice_is(name, "thread"))
		return with_quotes(line->thread);
	if (slice_is(name, "tpoint"))
		return with_quotes(line->tpoint);
	if (slice_is(name, "source"))
		return with_quotes(line->source);
	return json_member(text, name);
}

/* The value at a path of keys with dots between them. */
static struct slice find(const struct traceline *line, struct slice text, const char *path)
{
	const bool in_args = strncmp(path, "args.", 5) == 0;
	struct slice name, value;

	path += in_args ? 5 : 0;
	name = (struct slice){path, strcspn(path, ".")};
	value = in_args ? traceline_value(line, name) : line_member(line, text, name);
	path += name.n;
	return *path ? json_path(value, slice_of(path + 1)) : value;
}

/* A name would change when another host appears, so it is the NQN. What is no connection gets the host above it. */
static struct slice find_host(struct group *group, struct connections *connections, const struct span *s)
{
	const struct connection *c = s->connection == MAP_NONE ? NULL : &connections->all[s->connection];

	group->scratch.len = 0;
	if (!c || c->kind > CONNECTION_QPAIR)
		return (struct slice){};
	if (c->hostnqn.n) {
		out_char(&group->scratch, '"');
		out_slice(&group->scratch, c->hostnqn);
		out_char(&group->scratch, '"');
	} else {
		out_json(&group->scratch, connections_name(connections, s->connection)->name);
	}
	return out_contents(&group->scratch);
}

/* Sets *number to that of a value, and to MAP_NONE if it is null. False if it is too long, or there are too many. */
static bool add_value(struct group *group, struct slice value, uint32_t *number)
{
	*number = MAP_NONE;
	if (!value.n || slice_is(value, "null"))
		return true;
	if (value.n <= GROUP_MAX)
		*number = intern_add_below(&group->values, value, group->max);
	return *number != MAP_NONE;
}

static uint32_t add_tuple(struct group *group)
{
	struct slice bytes = {(const char *)group->tuple, group->n * sizeof(*group->tuple)};

	/* MAP_NONE plus 1 is 0 */
	if (group->n == 1)
		return group->tuple[0] + 1;
	return intern_add_below(&group->tuples, bytes, group->max);
}

void group_see(struct group *group, struct connections *connections, struct span *s, const struct traceline *line,
	       struct slice text)
{
	bool fits = true;

	for (size_t i = 0; i < group->n; i++) {
		struct group_key *key = &group->keys[i];
		struct slice value = key->host ? find_host(group, connections, s) : find(line, text, key->name);

		key->found |= value.n != 0;
		fits &= add_value(group, value, &group->tuple[i]);
	}
	group->any = true;
	s->above = MAP_NONE;
	s->group = fits ? add_tuple(group) : MAP_NONE;
}

/* The value of a key in a tuple; MAP_NONE: null. */
static uint32_t value_of(const struct group *group, uint32_t tuple, size_t key)
{
	uint32_t value = MAP_NONE;

	if (tuple != MAP_NONE && group->n == 1)
		value = tuple - 1;
	else if (tuple != MAP_NONE)
		memcpy(&value, group->tuples.all[tuple].p + key * sizeof(value), sizeof(value));
	return value;
}

/* The tuple of a span with what its own first line lacks. */
static uint32_t complete(struct group *group, const struct spans *spans, const struct span *s)
{
	if (group->has_io)
		request_io_read(&group->io, spans, s);
	for (size_t i = 0; i < group->n; i++) {
		struct group_key *key = &group->keys[i];
		uint32_t *value = &group->tuple[i];

		*value = value_of(group, s->group, i);
		group->scratch.len = 0;
		if (*value != MAP_NONE)
			continue;
		if (key->io != REQUEST_IO_KEYS && request_io_write(&group->scratch, &group->io, key->io)) {
			key->found = true;
			if (!add_value(group, out_contents(&group->scratch), value))
				return MAP_NONE;
		} else {
			*value = value_of(group, s->above, i);
		}
	}
	return add_tuple(group);
}

/* The number of the text of a tuple. */
static uint32_t text_of(struct group *group, uint32_t tuple)
{
	uint32_t *number = table_at(group->text_of, group->num_texts, group->cap_texts, tuple);
	struct out *text = &group->scratch;

	if (*number)
		return *number - 1;
	text->len = 0;
	for (size_t i = 0; i < group->n; i++) {
		uint32_t value = value_of(group, tuple, i);

		out_char(text, i ? ',' : '{');
		out_json(text, slice_of(group->keys[i].name));
		out_char(text, ':');
		out_slice(text, value == MAP_NONE ? slice_of("null") : group->values.all[value]);
	}
	out_char(text, '}');
	if (text->len > GROUP_MAX)
		return MAP_NONE;
	*number = intern_add_below(group->texts, out_contents(text), group->max) + 1;
	return *number - 1;
}

uint32_t group_of(struct group *group, const struct spans *spans, const struct span *s)
{
	uint32_t tuple = s->group, number = 0;

	if (!group->n)
		return 0;
	if (tuple != MAP_NONE && (group->has_io || (s->above != MAP_NONE && s->above != tuple)))
		tuple = complete(group, spans, s);
	if (tuple != MAP_NONE)
		number = text_of(group, tuple);
	for (struct span *child = s->child; child; child = child->next)
		child->above = number == MAP_NONE ? MAP_NONE : tuple;
	return tuple == MAP_NONE ? MAP_NONE : number;
}

void group_free(struct group *group)
{
	free(group->keys);
	free(group->tuple);
	free(group->text_of);
	intern_free(&group->values);
	intern_free(&group->tuples);
	request_io_free(&group->io);
	out_close(&group->scratch);
}
