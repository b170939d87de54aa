/* SPDX-License-Identifier: BSD-3-Clause */
#include "track_tree.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"

/* Starts the key of a place: its kind, and the place that it is in. */
static struct out *start_key(struct track_tree *p, char kind, uint32_t in)
{
	p->key.fd = p->name.fd = OUT_MEMORY;
	p->key.len = p->name.len = 0;
	out_char(&p->key, kind);
	out_u64(&p->key, in);
	/* JSON has no NUL bytes */
	out_char(&p->key, 0);
	return &p->key;
}

/* The place of the key; MAP_NONE: it is new. */
static uint32_t find(const struct track_tree *p)
{
	return intern_get(&p->keys, out_contents(&p->key));
}

/* Adds the place of the key, with the text in p->name. */
static uint32_t add(struct track_tree *p, enum track_tree_kind kind, uint32_t in, uint64_t lcore)
{
	uint32_t place = intern_add(&p->keys, out_contents(&p->key));

	p->all = mem_room(p->all, place, &p->cap);
	p->all[place] = (struct track_place){.kind = kind,
					     .in = in,
					     .process = in == MAP_NONE ? place : p->all[in].process,
					     .lcore = lcore,
					     .name = mem_slice(out_contents(&p->name))};
	return place;
}

/* Most lines have the same source as the line before. */
static uint32_t process_of(struct track_tree *p, const struct traceline *line)
{
	bool same = !p->source.p == !line->source.p && (!line->source.p || slice_equal(p->source, line->source));

	if (same && p->keys.n)
		return p->process;
	out_slice(start_key(p, line->source.p ? 'p' : 's', 0), line->source);
	p->process = find(p);
	if (p->process == MAP_NONE) {
		out_slice(&p->name, line->source.p ? line->source : slice_of(TRACK_TREE_NO_SOURCE));
		p->process = add(p, TRACK_TREE_PROCESS, MAP_NONE, 0);
	}
	free((char *)p->source.p);
	p->source = line->source.p ? mem_slice(line->source) : (struct slice){};
	return p->process;
}

static uint32_t find_lcore(struct track_tree *p, const struct traceline *line, uint64_t lcore, uint32_t process)
{
	uint32_t place;

	out_u64(start_key(p, 'l', process), lcore);
	place = find(p);
	if (place != MAP_NONE)
		return place;
	out_text(&p->name, "lcore ");
	out_u64(&p->name, lcore);
	if (line->thread.n) {
		out_char(&p->name, ' ');
		out_slice(&p->name, line->thread);
	}
	return add(p, TRACK_TREE_LCORE, process, lcore);
}

uint32_t track_tree_lcore(struct track_tree *p, const struct traceline *line, uint64_t lcore)
{
	uint32_t process = process_of(p, line), *place;

	if (lcore > UINT32_MAX)
		return find_lcore(p, line, lcore, process);
	place = map_put(&p->lcores, (uint64_t)process << 32 | lcore);
	if (*place == MAP_NONE)
		*place = find_lcore(p, line, lcore, process);
	return *place;
}

uint32_t track_tree_thread(struct track_tree *p, const struct traceline *line, struct slice comm, struct slice tid)
{
	uint32_t process = process_of(p, line), place;

	start_key(p, 't', process);
	out_slice(&p->name, comm);
	out_char(&p->name, ' ');
	out_slice(&p->name, tid);
	out_slice(&p->key, out_contents(&p->name));
	place = find(p);
	return place == MAP_NONE ? add(p, TRACK_TREE_THREAD, process, 0) : place;
}

/* The place that a connection is in: its host's, by NQN or by the address without its port. */
static uint32_t find_host(struct track_tree *p, uint32_t process, const struct connection *connection)
{
	struct slice host = connection->hostnqn;
	uint32_t place;

	if (connection->kind == CONNECTION_ADDRESS)
		host = slice_between(connection->owner.p,
				     memrchr(connection->owner.p, ':', connection_address(connection->owner).n));
	if (!host.n)
		return process;
	out_slice(start_key(p, 'h', process), host);
	place = find(p);
	if (place != MAP_NONE)
		return place;
	out_slice(&p->name, host);
	return add(p, TRACK_TREE_HOST, process, 0);
}

/* The key of a connection. One whose host has become known moves to the place of its host. */
static void start_connection(struct track_tree *p, uint32_t process, uint32_t number)
{
	const struct connection *connection = number == MAP_NONE ? NULL : connections_name(&p->connections, number);

	start_key(p, connection && connection->kind == CONNECTION_HOST ? 'q' : 'c', process);
	if (connection)
		out_u64(&p->key, number);
}

uint32_t track_tree_connection(struct track_tree *p, const struct traceline *line)
{
	uint32_t process = process_of(p, line), in = process, place, number;
	size_t arg;

	number = connections_find(&p->connections, line, &arg);
	start_connection(p, process, number);
	place = find(p);
	if (place != MAP_NONE)
		return place;
	if (number != MAP_NONE)
		in = find_host(p, process, &p->connections.all[number]);
	start_connection(p, process, number);
	if (number == MAP_NONE) {
		out_text(&p->name, "objects");
	} else {
		struct slice name = p->connections.all[number].name;
		char *to = out_room(&p->name, JSON_QUOTED(name.n));

		out_commit(&p->name, json_escape(to, name));
	}
	return add(p, TRACK_TREE_CONNECTION, in, 0);
}

void track_tree_note_reactor(struct track_tree *p, uint32_t lcore)
{
	struct track_place *place = &p->all[lcore];
	uint32_t *first;

	if (place->has_objects)
		return;
	place->has_objects = true;
	first = map_put(&p->reactors, place->lcore);
	if (*first == MAP_NONE)
		*first = lcore;
}

uint32_t track_tree_reactor(const struct track_tree *p, uint64_t lcore)
{
	return map_get(&p->reactors, lcore);
}

void track_tree_free(struct track_tree *p)
{
	for (uint32_t i = 0; i < p->keys.n; i++)
		free((char *)p->all[i].name.p);
	free(p->all);
	intern_free(&p->keys);
	free((char *)p->source.p);
	map_free(&p->lcores);
	map_free(&p->reactors);
	connections_free(&p->connections);
	out_close(&p->key);
	out_close(&p->name);
}
