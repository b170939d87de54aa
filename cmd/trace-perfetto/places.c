/* SPDX-License-Identifier: BSD-3-Clause */
#include "places.h"

#include <stdlib.h>

#include "connection.h"
#include "mem.h"

/* Ranks of a process's tracks: counters, lcores, threads, hosts. */
enum { RANK_COUNTER, RANK_LCORE, RANK_THREAD = 1 << 20, RANK_HOST };

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

/* The place of the key; MAP_NONE as its track: it is new. */
static uint32_t find(struct places *p)
{
	uint32_t n = p->keys.n, place = intern_add(&p->keys, out_kept(&p->key));

	if (place == n) {
		p->all = mem_room(p->all, n, &p->cap);
		p->all[place] = (struct place){.track = MAP_NONE, .process = place, .rate = MAP_NONE};
		for (unsigned i = 0; i < PLACES_COUNTERS; i++)
			p->all[place].counters[i].track = MAP_NONE;
	}
	return place;
}

/* Gives a new place a track, with the text in p->name. */
static uint32_t set_track(struct places *p, uint32_t place, uint32_t in, uint32_t rank)
{
	struct place *new = &p->all[place];

	new->track = packets_add_track(p->packets, in == MAP_NONE ? MAP_NONE : p->all[in].track, rank,
				       out_kept(&p->name), false);
	new->process = in == MAP_NONE ? place : p->all[in].process;
	return place;
}

static uint32_t find_process(struct places *p, const struct traceline *line)
{
	uint32_t place;

	out_slice(start_key(p, line->source.p ? 'p' : 's', 0), line->source);
	place = find(p);
	if (p->all[place].track != MAP_NONE)
		return place;
	if (line->source.p)
		out_slice(&p->name, line->source);
	else
		out_text(&p->name, "SPDK");
	return set_track(p, place, MAP_NONE, place);
}

/* Lines of one source mostly come one after the other. */
uint32_t places_process(struct places *p, const struct traceline *line)
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
	if (p->all[place].track != MAP_NONE)
		return place;
	out_text(&p->name, "lcore ");
	out_u64(&p->name, lcore);
	if (line->thread.n) {
		out_char(&p->name, ' ');
		out_slice(&p->name, line->thread);
	}
	return set_track(p, place, process, RANK_LCORE + (lcore < RANK_THREAD - 1 ? lcore : RANK_THREAD - 2));
}

uint32_t places_lcore(struct places *p, const struct traceline *line, uint64_t lcore)
{
	uint32_t process = places_process(p, line), *place;

	if (lcore > UINT32_MAX)
		return find_lcore(p, line, lcore, process);
	place = map_put(&p->lcores, (uint64_t)process << 32 | lcore);
	if (*place == MAP_NONE)
		*place = find_lcore(p, line, lcore, process);
	return *place;
}

uint32_t places_thread(struct places *p, const struct traceline *line, struct slice comm, struct slice tid)
{
	uint32_t process = places_process(p, line), place;
	struct out *key = start_key(p, 't', process);

	out_slice(key, comm);
	out_char(key, ' ');
	out_slice(key, tid);
	place = find(p);
	if (p->all[place].track != MAP_NONE)
		return place;
	out_slice(&p->name, comm);
	out_char(&p->name, ' ');
	out_slice(&p->name, tid);
	return set_track(p, place, process, RANK_THREAD);
}

/* The host of a connection: the name that it gives itself, or the address in an owner, without its port. */
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

static uint32_t places_host(struct places *p, uint32_t process, struct slice host)
{
	uint32_t place;

	out_slice(start_key(p, 'h', process), host);
	place = find(p);
	if (p->all[place].track != MAP_NONE)
		return place;
	out_slice(&p->name, host);
	return set_track(p, place, process, RANK_HOST);
}

/* qid 1 SUBNQN 0x…; or the owner, in which the port tells the connections of a host apart. */
static void write_name(struct out *out, struct slice annotation, struct slice owner)
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
	uint32_t process = places_process(p, line), in = process, place;
	const struct traceline_arg *qpair = find_qpair(line);
	struct slice annotation = {}, owner = line->owner.n ? line->owner : line->poller, host, id;

	if (qpair && qpair->value.p[0] == '{')
		annotation = qpair->value;
	id = qpair ? qpair->value : owner;
	out_slice(start_key(p, qpair ? 'q' : 'c', process), id);
	place = find(p);
	if (p->all[place].track != MAP_NONE)
		return place;
	host = host_of(annotation, owner);
	if (host.n)
		in = places_host(p, process, host);
	p->name.len = 0;
	if (qpair && !annotation.p) {
		out_text(&p->name, "qpair ");
		out_slice(&p->name, connection_unquoted(id));
	} else {
		write_name(&p->name, annotation, owner);
	}
	if (!p->name.len)
		out_text(&p->name, "objects");
	return set_track(p, place, in, RANK_HOST);
}

static struct place *process_of(struct places *p, uint32_t place)
{
	return &p->all[p->all[place].process];
}

/*
 * The tracks of these numbers, if they were ever counted. The larger number comes first: trace_processor loses the values
 * of an event after one that is 0.
 */
static bool find_counters(struct places *p, uint32_t place, uint32_t tracks[PACKETS_COUNTERS])
{
	tracks[0] = process_of(p, place)->counters[PLACES_IN_FLIGHT].track;
	tracks[1] = p->all[place].counters[PLACES_IN_FLIGHT].track;
	return tracks[1] != MAP_NONE;
}

uint32_t places_row(struct places *p, uint32_t place, uint32_t kind, struct slice name, uint64_t first, uint64_t end)
{
	uint32_t *index = map_put(&p->rows, (uint64_t)place << 32 | kind), *track, counters[PACKETS_COUNTERS];

	if (*index == MAP_NONE) {
		*index = p->num_lanes;
		p->lanes = mem_room(p->lanes, p->num_lanes, &p->cap_lanes);
		p->lanes[p->num_lanes++] = (struct lanes){};
	}
	track = lanes_take(&p->lanes[*index], first, end);
	if (*track == MAP_NONE) {
		*track = packets_add_track(p->packets, p->all[place].track, 1 + kind, name, false);
		if (find_counters(p, place, counters))
			packets_expect(p->packets, *track, counters);
	}
	return *track;
}

/* Counts one more or less. Returns the number. */
static uint64_t count(struct places *p, struct place *place, enum places_counter counter, bool more)
{
	static const char *const names[PLACES_COUNTERS] = {
		[PLACES_IN_FLIGHT] = "requests in flight",
		[PLACES_WAITING] = "waiting for a buffer",
	};
	struct place_counter *c = &place->counters[counter];

	if (c->track == MAP_NONE)
		c->track = packets_add_track(p->packets, place->track, RANK_COUNTER, slice_of(names[counter]), true);
	c->value += more ? 1 : -1;
	return c->value;
}

struct places_count places_count(struct places *p, uint32_t place, bool more)
{
	return (struct places_count){{count(p, process_of(p, place), PLACES_IN_FLIGHT, more),
				      count(p, &p->all[place], PLACES_IN_FLIGHT, more)}};
}

void places_draw_with(struct places *p, uint32_t place, struct places_count count)
{
	uint32_t tracks[PACKETS_COUNTERS];

	if (find_counters(p, place, tracks))
		packets_values(p->packets, tracks, count.values);
}

void places_draw(struct places *p, uint32_t place, uint64_t ns, struct places_count count)
{
	uint32_t tracks[PACKETS_COUNTERS];

	if (!find_counters(p, place, tracks))
		return;
	for (unsigned i = 0; i < PACKETS_COUNTERS; i++)
		packets_count(p->packets, tracks[i], ns, count.values[i]);
}

void places_wait(struct places *p, uint32_t place, uint64_t ns, bool more)
{
	struct place *process = process_of(p, place);
	uint64_t value = count(p, process, PLACES_WAITING, more);

	packets_count(p->packets, process->counters[PLACES_WAITING].track, ns, value);
}

/* Writes the rate of a millisecond, and that it is 0 after it, up to the next one that has a rate. */
static void write_rate(struct places *p, struct place *process, uint64_t next)
{
	enum { NS = 1000000, A_SECOND = 1000 };

	if (!process->ended)
		return;
	if (process->rate == MAP_NONE)
		process->rate = packets_add_track(p->packets, process->track, RANK_COUNTER, slice_of("IOPS"), true);
	packets_count(p->packets, process->rate, process->ms * NS, process->ended * A_SECOND);
	if (next > process->ms + 1)
		packets_count(p->packets, process->rate, (process->ms + 1) * NS, 0);
	process->ended = 0;
}

void places_end(struct places *p, uint32_t place, uint64_t ns)
{
	struct place *process = &p->all[p->all[place].process];
	uint64_t ms = ns / 1000000;

	/* a request that ends out of order counts for the latest millisecond */
	if (ms > process->ms) {
		write_rate(p, process, ms);
		process->ms = ms;
	}
	process->ended++;
}

void places_finish(struct places *p)
{
	for (uint32_t i = 0; i < p->keys.n; i++)
		write_rate(p, &p->all[i], UINT64_MAX);
}

void places_free(struct places *p)
{
	for (size_t i = 0; i < p->num_lanes; i++)
		free(p->lanes[i].all);
	free(p->lanes);
	free(p->all);
	intern_free(&p->keys);
	free((char *)p->source.p);
	map_free(&p->lcores);
	map_free(&p->rows);
	out_close(&p->key);
	out_close(&p->name);
}
