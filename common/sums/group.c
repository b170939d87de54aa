/* SPDX-License-Identifier: BSD-3-Clause */
#include "group.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"

void group_start(struct group *group, const char *const *names, size_t n, struct intern *texts, uint32_t max)
{
	*group = (struct group){.n = n, .texts = texts, .max = max, .scratch.fd = OUT_MEMORY};
	group->keys = mem_array(n, sizeof(*group->keys));
	for (size_t i = 0; i < n; i++) {
		struct slice name = slice_of(names[i]);

		out_json(out_start(&group->text), name);
		out_char(&group->text, ':');
		group->keys[i] = (struct group_key){
			.name = name, .head = mem_slice(out_contents(&group->text)), .host = slice_is(name, "host")};
		/* a trace may well have none */
		group->keys[i].found = group->keys[i].host;
		group->has_io |= spanline_is_io(name);
	}
	if (!n)
		intern_add(texts, (struct slice){"", 0});
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
		out_json(&group->scratch, spanline_host(connections_name(connections, s->connection)->name));
	}
	return out_contents(&group->scratch);
}

/* Adds a key and its value for a span: what it does not say is that of the span above it. */
static void add_value(struct group *group, struct group_key *key, struct slice value, uint32_t above)
{
	struct out *text = &group->text;

	key->found |= value.n != 0;
	if ((!value.n || slice_is(value, "null")) && above != MAP_NONE)
		value = json_member(group->texts->all[above], key->name);
	out_char(text, text->len ? ',' : '{');
	out_slice(text, key->head);
	out_slice(text, value.n ? value : slice_of("null"));
}

uint32_t group_of(struct group *group, struct connections *connections, const struct spans *spans, const struct span *s)
{
	uint32_t number = MAP_NONE;

	if (!group->n)
		return 0;
	group->any = true;
	group->text.len = 0;
	spanfill_span(&group->fill, spans, connections, s);
	if (group->has_io)
		spanfill_io(&group->fill, spans, s);
	for (struct group_key *key = group->keys; key < group->keys + group->n; key++)
		add_value(group, key,
			  key->host ? find_host(group, connections, s)
				    : spanline_value(&group->fill.line, key->name, &group->scratch),
			  s->above);
	out_char(&group->text, '}');
	if (group->text.len <= GROUP_MAX)
		number = intern_add_below(group->texts, out_contents(&group->text), group->max);
	for (struct span *child = s->child; child; child = child->next)
		child->above = number;
	return number;
}

void group_free(struct group *group)
{
	for (size_t i = 0; i < group->n; i++)
		free((char *)group->keys[i].head.p);
	free(group->keys);
	out_close(&group->text);
	spanfill_free(&group->fill);
	out_close(&group->scratch);
}
