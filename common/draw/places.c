/* SPDX-License-Identifier: BSD-3-Clause */
#include "places.h"

#include <stdlib.h>

#include "connection.h"
#include "mem.h"

/* Starts the key of a place: its kind, and the place that it is in. */
static struct out *start_key(struct places *p, char kind, uint32_t in)
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
static uint32_t find(const struct places *p)
{
	return intern_get(&p->keys, out_contents(&p->key));
}

/* Adds the place of the key, with the text in p->name. */
static uint32_t add(struct places *p, enum places_kind kind, uint32_t in, uint64_t lcore)
{
	uint32_t place = intern_add(&p->keys, out_contents(&p->key));

	p->all = mem_room(p->all, place, &p->cap);
	p->all[place] = (struct place){.kind = kind,
				       .in = in,
				       .process = in == MAP_NONE ? place : p->all[in].process,
				       .lcore = lcore,
				       .name = mem_slice(out_contents(&p->name))};
	return place;
}

static uint32_t find_process(struct places *p, const struct traceline *line)
{
	uint32_t place;

	out_slice(start_key(p, line->source.p ? 'p' : 's', 0), line->source);
	place = find(p);
	if (place != MAP_NONE)
		return place;
	out_slice(&p->name, line->source.p ? line->source : slice_of(PLACES_NO_SOURCE));
	return add(p, PLACES_PROCESS, MAP_NONE, 0);
}

/* Most lines have the same source as the line before. */
static uint32_t process_of(struct places *p, const struct traceline *line)
{
	bool same = !p->source.p == !line->source.p && (!line->source.p || slice_equal(p->source, line->source));

	if (same && p->keys.n)
		return p->process;
	p->process = find_process(p, line);
	free((char *)p->source.p);
	p->source = line->source.p ? mem_slice(line->source) : (struct slice){};
	return p->process;
}

static uint32_t find_lcore(struct places *p, const struct traceline *line, uint64_t lcore, uint32_t process)
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
	return add(p, PLACES_LCORE, process, lcore);
}

uint32_t places_lcore(struct places *p, const struct traceline *line, uint64_t lcore)
{
	uint32_t process = process_of(p, line), *place;

	if (lcore > UINT32_MAX)
		return find_lcore(p, line, lcore, process);
	place = map_put(&p->lcores, (uint64_t)process << 32 | lcore);
	if (*place == MAP_NONE)
		*place = find_lcore(p, line, lcore, process);
	return *place;
}

uint32_t places_thread(struct places *p, const struct traceline *line, struct slice comm, struct slice tid)
{
	uint32_t process = process_of(p, line), place;

	start_key(p, 't', process);
	out_slice(&p->name, comm);
	out_char(&p->name, ' ');
	out_slice(&p->name, tid);
	out_slice(&p->key, out_contents(&p->name));
	place = find(p);
	return place == MAP_NONE ? add(p, PLACES_THREAD, process, 0) : place;
}

/* The host of a connection: its NQN, or the address in an owner, without the port. */
static struct slice host_of(struct slice annotation, struct slice owner)
{
	struct slice address, queue;
	const char *port;

	if (annotation.p)
		return connection_member(annotation, "hostnqn");
	if (!connection_owner(owner, &address, &queue))
		return (struct slice){};
	port = memrchr(address.p, ':', address.n);
	return port ? slice_between(address.p, port) : address;
}

/* The place that a connection is in. */
static uint32_t find_host(struct places *p, uint32_t process, struct slice host)
{
	uint32_t place;

	if (!host.n)
		return process;
	out_slice(start_key(p, 'h', process), host);
	place = find(p);
	if (place != MAP_NONE)
		return place;
	out_slice(&p->name, host);
	return add(p, PLACES_HOST, process, 0);
}

/* qid 1 SUBNQN 0x…; or the owner, whose port distinguishes the connections of a host. */
static void write_connection(struct out *out, struct slice annotation, struct slice owner)
{
	static const char *const members[] = {"qid", "subnqn", "ptr"};

	if (!annotation.p) {
		out_slice(out, owner);
		return;
	}
	for (unsigned i = 0; i < sizeof(members) / sizeof(*members); i++) {
		struct slice value = connection_member(annotation, members[i]);

		if (!value.n)
			continue;
		out_text(out, out->len ? " " : "");
		out_text(out, i ? "" : "qid ");
		out_slice(out, value);
	}
}

/* Returns the argument that identifies the qpair: trace-join's annotation, else an address, else NULL. */
static const struct traceline_arg *find_qpair(const struct traceline *line)
{
	const struct traceline_arg *address = NULL;

	for (size_t i = 0; i < line->num_args; i++) {
		if (line->args[i].value.p[0] == '{')
			return &line->args[i];
		if (slice_is(line->args[i].key, "qpair"))
			address = &line->args[i];
	}
	return address;
}

uint32_t places_connection(struct places *p, const struct traceline *line)
{
	uint32_t process = process_of(p, line), in, place;
	const struct traceline_arg *qpair = find_qpair(line);
	struct slice annotation = {}, owner = line->owner.n ? line->owner : line->poller, id;
	char kind = qpair ? 'q' : 'c';

	if (qpair && qpair->value.p[0] == '{')
		annotation = qpair->value;
	id = qpair ? qpair->value : owner;
	out_slice(start_key(p, kind, process), id);
	place = find(p);
	if (place != MAP_NONE)
		return place;
	in = find_host(p, process, host_of(annotation, owner));
	out_slice(start_key(p, kind, process), id);
	if (qpair && !annotation.p) {
		out_text(&p->name, "qpair ");
		out_slice(&p->name, connection_unquoted(id));
	} else {
		write_connection(&p->name, annotation, owner);
	}
	if (!p->name.len)
		out_text(&p->name, "objects");
	return add(p, PLACES_CONNECTION, in, 0);
}

void places_note_reactor(struct places *p, uint32_t lcore)
{
	struct place *place = &p->all[lcore];
	uint32_t *first;

	if (place->has_objects)
		return;
	place->has_objects = true;
	first = map_put(&p->reactors, place->lcore);
	if (*first == MAP_NONE)
		*first = lcore;
}

uint32_t places_reactor(const struct places *p, uint64_t lcore)
{
	return map_get(&p->reactors, lcore);
}

void places_free(struct places *p)
{
	for (uint32_t i = 0; i < p->keys.n; i++)
		free((char *)p->all[i].name.p);
	free(p->all);
	intern_free(&p->keys);
	free((char *)p->source.p);
	map_free(&p->lcores);
	map_free(&p->reactors);
	out_close(&p->key);
	out_close(&p->name);
}
