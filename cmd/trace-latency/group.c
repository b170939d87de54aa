/* SPDX-License-Identifier: BSD-3-Clause */
#include "group.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"

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
	*group = (struct group){.n = n, .texts = texts, .max = max, .text.fd = OUT_MEMORY};
	group->keys = mem_array(n, sizeof(*group->keys));
	for (size_t i = 0; i < n; i++) {
		group->keys[i] = (struct group_key){
			.name = names[i], .io = io_key_of(names[i]), .host = strcmp(names[i], "host") == 0};
		/* a trace may well have none */
		group->keys[i].found = group->keys[i].host;
		group->has_io |= group->keys[i].io != REQUEST_IO_KEYS;
	}
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

/* Starts a member of the group's text, the i-th; its value follows. */
static void put_key(struct group *group, size_t i)
{
	if (!i)
		group->text.len = 0;
	out_char(&group->text, i ? ',' : '{');
	out_json(&group->text, slice_of(group->keys[i].name));
	out_char(&group->text, ':');
}

static uint32_t add(struct group *group)
{
	if (group->n)
		out_char(&group->text, '}');
	if (group->text.len > GROUP_MAX)
		return MAP_NONE;
	return intern_add_below(group->texts, out_contents(&group->text), group->max);
}

/* A name would change when another host appears, so it is the NQN. What is no connection gets the host above it. */
static void put_host(struct group *group, const struct traceline *line)
{
	size_t arg;
	uint32_t number = connections_find(&group->connections, line, &arg);
	const struct connection *c = number == MAP_NONE ? NULL : &group->connections.all[number];

	if (!c || c->kind > CONNECTION_QPAIR)
		out_text(&group->text, "null");
	else if (c->hostnqn.n)
		out_printf(&group->text, "\"%.*s\"", (int)c->hostnqn.n, c->hostnqn.p);
	else
		out_json(&group->text, connections_name(&group->connections, number)->name);
}

uint32_t group_of_line(struct group *group, const struct traceline *line, struct slice text)
{
	for (size_t i = 0; i < group->n; i++) {
		struct group_key *key = &group->keys[i];
		struct slice value;

		put_key(group, i);
		if (key->host) {
			put_host(group, line);
			continue;
		}
		value = find(line, text, key->name);
		key->found |= value.n != 0;
		out_slice(&group->text, value.n ? value : slice_of("null"));
	}
	return add(group);
}

/* Starts to read the values of a group, which are in the order of the keys. */
static void read_group(struct json *j, const struct group *group, uint32_t number)
{
	struct slice text = number == MAP_NONE ? slice_of("{}") : group->texts->all[number];

	json_init(j, text.p, text.n);
	json_object(j);
}

/* The next of them, if it is not null. */
static bool next_value(struct json *j, struct slice *value)
{
	struct slice key;

	return json_key(j, &key) && json_value(j, value) && !slice_is(*value, "null");
}

uint32_t group_of_span(struct group *group, const struct spans *spans, const struct span *s, uint32_t of_line,
		       uint32_t parent)
{
	struct json own, above;

	if (of_line == MAP_NONE || (!group->has_io && (parent == MAP_NONE || parent == of_line)))
		return of_line;
	if (group->has_io)
		request_io_read(&group->io, spans, s);
	read_group(&own, group, of_line);
	read_group(&above, group, parent);
	for (size_t i = 0; i < group->n; i++) {
		struct group_key *key = &group->keys[i];
		struct slice value, parents;
		bool has_value = next_value(&own, &value);
		bool has_parents = next_value(&above, &parents);

		put_key(group, i);
		if (has_value)
			out_slice(&group->text, value);
		else if (key->io != REQUEST_IO_KEYS && request_io_write(&group->text, &group->io, key->io))
			key->found = true;
		else
			out_slice(&group->text, has_parents ? parents : slice_of("null"));
	}
	return add(group);
}

void group_free(struct group *group)
{
	free(group->keys);
	request_io_free(&group->io);
	connections_free(&group->connections);
	out_close(&group->text);
}
