/* SPDX-License-Identifier: BSD-3-Clause */
#include "track_tree.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "table.h"

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
	uint32_t key = intern_get(&p->keys, out_contents(&p->key));

	if (key == MAP_NONE || p->all[p->by_key[key].place].key != key)
		return MAP_NONE;
	return p->by_key[key].place;
}

/* Gives the place to the key, maybe a new one. */
static struct track_tree_key *use(struct track_tree *p, uint32_t place)
{
	uint32_t number = intern_add(&p->keys, out_contents(&p->key));
	struct track_tree_key *key = table_at(p->by_key, p->num_keys, p->cap_keys, number);

	key->place = place;
	p->all[place].key = number;
	return key;
}

/* Adds the place of the key, with the text in p->name. */
static uint32_t add(struct track_tree *p, enum track_tree_kind kind, uint32_t in, uint64_t lcore)
{
	uint32_t place = p->n++, added;

	p->all = mem_room(p->all, place, &p->cap);
	p->all[place] = (struct track_place){.kind = kind,
					     .in = in,
					     .process = in == MAP_NONE ? place : p->all[in].process,
					     .lcore = lcore,
					     .list = MAP_NONE};
	added = ++use(p, place)->added;
	/* viewers merge rows of one name */
	if (added > 1)
		out_printf(&p->name, "(%u)", added);
	p->all[place].name = mem_slice(out_contents(&p->name));
	return place;
}

/* Most lines have the same source as the line before. */
static uint32_t process_of(struct track_tree *p, const struct traceline *line)
{
	bool same = !p->source.p == !line->source.p && (!line->source.p || slice_equal(p->source, line->source));

	if (same && p->n)
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

/* The list of places that a connection of a host may have. */
static uint32_t list_of(struct track_tree *p, uint32_t host, const struct connection *connection)
{
	uint32_t list;

	out_u64(start_key(p, connection->kind == CONNECTION_HOST ? 'q' : 'c', host), connection->subsystem);
	out_char(&p->key, ' ');
	out_slice(&p->key, connection->queue);
	list = intern_add(&p->list_keys, out_contents(&p->key));
	if (list == p->num_lists)
		*table_at(p->lists, p->num_lists, p->cap_lists, list) = (struct track_tree_list){MAP_NONE, MAP_NONE};
	return list;
}

static bool is_free(const struct track_tree *p, uint32_t place)
{
	const struct track_place *of = &p->all[place];

	return of->list != MAP_NONE && (of->previous != MAP_NONE || p->lists[of->list].first == place);
}

/* Takes a place from its list. */
static void take(struct track_tree *p, uint32_t place)
{
	struct track_place *of = &p->all[place];
	struct track_tree_list *list = &p->lists[of->list];

	*(of->previous == MAP_NONE ? &list->first : &p->all[of->previous].next) = of->next;
	*(of->next == MAP_NONE ? &list->last : &p->all[of->next].previous) = of->previous;
	of->next = of->previous = MAP_NONE;
}

void track_tree_free_place(struct track_tree *p, uint32_t place, uint64_t ns)
{
	struct track_place *of = &p->all[place];
	struct track_tree_list *list;

	if (of->list == MAP_NONE || is_free(p, place))
		return;
	list = &p->lists[of->list];
	of->free_since = ns;
	of->previous = list->last;
	*(list->last == MAP_NONE ? &list->first : &p->all[list->last].next) = place;
	list->last = place;
}

/* The connection of a line; NULL: nothing identifies it. One that was not created in the trace always existed. */
static struct track_tree_connected *connected(struct track_tree *p, const struct traceline *line)
{
	struct track_tree_connected *c;
	uint64_t key;

	if (!connection_key(line, &key))
		return NULL;
	c = table_put(&p->uses, key, p->connected, p->num_connected, p->cap_connected);
	if (!c->exists)
		*c = (struct track_tree_connected){.exists = true, .place = MAP_NONE};
	return c;
}

void track_tree_create(struct track_tree *p, const struct traceline *line, uint64_t ns)
{
	struct track_tree_connected *c = connected(p, line);

	/* its creation has two entries; without its end, it may have been there before */
	if (c && c->place == MAP_NONE && !c->since)
		c->since = ns;
}

uint32_t track_tree_destroy(struct track_tree *p, const struct traceline *line)
{
	struct track_tree_connected *c = connected(p, line);

	if (!c)
		return MAP_NONE;
	c->exists = false;
	return c->place;
}

/* Adds the place of a new connection, or takes one that was free when the connection was created. */
static uint32_t add_connection(struct track_tree *p, uint32_t process, uint32_t number, uint64_t since)
{
	const struct connection *connection = number == MAP_NONE ? NULL : &p->connections.all[number];
	uint32_t in = connection ? find_host(p, process, connection) : process, list = MAP_NONE, place;

	if (in != process) {
		list = list_of(p, in, connection);
		place = p->lists[list].first;
		if (place != MAP_NONE && p->all[place].free_since < since) {
			take(p, place);
			start_connection(p, process, number);
			use(p, place);
			return place;
		}
	}
	start_connection(p, process, number);
	if (!connection)
		out_text(&p->name, "objects");
	else
		out_commit(&p->name,
			   json_escape(out_room(&p->name, JSON_QUOTED(connection->name.n)), connection->name));
	place = add(p, TRACK_TREE_CONNECTION, in, 0);
	p->all[place].list = list;
	p->all[place].next = p->all[place].previous = MAP_NONE;
	return place;
}

uint32_t track_tree_connection(struct track_tree *p, const struct traceline *line)
{
	uint32_t process = process_of(p, line), number, place;
	struct track_tree_connected *c;
	size_t arg;

	number = connections_find(&p->connections, line, &arg);
	start_connection(p, process, number);
	place = find(p);
	if (place != MAP_NONE && !is_free(p, place))
		return place;
	c = connected(p, line);
	if (place == MAP_NONE)
		place = add_connection(p, process, number, c ? c->since : 0);
	else
		take(p, place);
	if (c)
		c->place = place;
	return place;
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
	for (uint32_t i = 0; i < p->n; i++)
		free((char *)p->all[i].name.p);
	free(p->all);
	free(p->by_key);
	intern_free(&p->list_keys);
	free(p->lists);
	map_free(&p->uses);
	free(p->connected);
	intern_free(&p->keys);
	free((char *)p->source.p);
	map_free(&p->lcores);
	map_free(&p->reactors);
	connections_free(&p->connections);
	out_close(&p->key);
	out_close(&p->name);
}
