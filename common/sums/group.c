/* SPDX-License-Identifier: BSD-3-Clause */
#include "group.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "table.h"

void group_start(struct group *group, const char *const *names, size_t n, struct intern *texts, uint32_t max)
{
	*group = (struct group){.n = n, .texts = texts, .max = max, .scratch.fd = OUT_MEMORY};
	group->keys = mem_array(n, sizeof(*group->keys));
	group->tuple = mem_array(n, sizeof(*group->tuple));
	for (size_t i = 0; i < n; i++) {
		struct slice name = slice_of(names[i]);

		group->keys[i] = (struct group_key){.name = name, .host = slice_is(name, "host")};
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

/* The tuple of a span: what it does not say is that of the span above it. MAP_NONE: it does not fit. */
static uint32_t tuple_of(struct group *group, struct connections *connections, const struct spans *spans,
			 const struct span *s)
{
	bool fits = true;

	spanfill_span(&group->fill, spans, connections, s);
	if (group->has_io)
		spanfill_io(&group->fill, spans, s);
	for (size_t i = 0; i < group->n; i++) {
		struct group_key *key = &group->keys[i];
		struct slice value = key->host ? find_host(group, connections, s)
					       : spanline_value(&group->fill.line, key->name, &group->scratch);

		key->found |= value.n != 0;
		fits &= add_value(group, value, &group->tuple[i]);
		if (group->tuple[i] == MAP_NONE)
			group->tuple[i] = value_of(group, s->above, i);
	}
	return fits ? add_tuple(group) : MAP_NONE;
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
		out_json(text, group->keys[i].name);
		out_char(text, ':');
		out_slice(text, value == MAP_NONE ? slice_of("null") : group->values.all[value]);
	}
	out_char(text, '}');
	if (text->len > GROUP_MAX)
		return MAP_NONE;
	*number = intern_add_below(group->texts, out_contents(text), group->max) + 1;
	return *number - 1;
}

uint32_t group_of(struct group *group, struct connections *connections, const struct spans *spans, const struct span *s)
{
	uint32_t tuple, number;

	if (!group->n)
		return 0;
	group->any = true;
	tuple = tuple_of(group, connections, spans, s);
	number = tuple == MAP_NONE ? MAP_NONE : text_of(group, tuple);
	for (struct span *child = s->child; child; child = child->next)
		child->above = number == MAP_NONE ? MAP_NONE : tuple;
	return number;
}

void group_free(struct group *group)
{
	free(group->keys);
	free(group->tuple);
	free(group->text_of);
	intern_free(&group->values);
	intern_free(&group->tuples);
	spanfill_free(&group->fill);
	out_close(&group->scratch);
}
