/* SPDX-License-Identifier: BSD-3-Clause */
#include "tracks.h"

#include <stdlib.h>

#include "mem.h"
#include "table.h"

/* Ranks of a process's tracks after its counters: lcores, threads, hosts and connections. */
enum { RANK_LCORE = 1, RANK_THREAD = 1 << 20, RANK_HOST };

static uint32_t rank_of(const struct track_tree *p, uint32_t place)
{
	uint64_t lcore = p->all[place].lcore;

	switch (p->all[place].kind) {
	case TRACK_TREE_PROCESS:
		return place;
	case TRACK_TREE_LCORE:
		return RANK_LCORE + (lcore < RANK_THREAD - 1 ? lcore : RANK_THREAD - 2);
	case TRACK_TREE_THREAD:
		return RANK_THREAD;
	default:
		return RANK_HOST;
	}
}

/* Adds tracks of new places. A place comes after the one that it is in. */
static void add_places(struct tracks *t)
{
	for (; t->n < t->tree.n; t->n++) {
		const struct track_place *p = &t->tree.all[t->n];
		struct tracks_place new = {};

		new.track = packets_add_track(t->packets, p->in == MAP_NONE ? MAP_NONE : t->all[p->in].track,
					      rank_of(&t->tree, t->n), p->name);
		for (unsigned i = 0; i < TRACKS_COUNTERS; i++)
			new.counters[i].track = MAP_NONE;
		for (unsigned i = 0; i < TRACKS_RATES; i++)
			new.rates[i].track = MAP_NONE;
		t->all = mem_room(t->all, t->n, &t->cap);
		t->all[t->n] = new;
	}
}

static inline struct tracks_place *find(struct tracks *t, uint32_t place)
{
	if (place >= t->n)
		add_places(t);
	return &t->all[place];
}

uint32_t tracks_place(struct tracks *t, uint32_t place)
{
	return find(t, place)->track;
}

static struct tracks_place *process_of(struct tracks *t, uint32_t place)
{
	return find(t, t->tree.all[place].process);
}

uint32_t *tracks_row(struct tracks *t, uint32_t place, uint32_t kind, uint64_t first, uint64_t end)
{
	struct lanes *lanes = table_put(&t->rows, (uint64_t)place << 32 | kind, t->lanes, t->num_lanes, t->cap_lanes);

	return lanes_assign(lanes, first, end);
}

uint32_t tracks_add_row(struct tracks *t, uint32_t place, uint32_t kind, struct slice name)
{
	return packets_add_track(t->packets, tracks_place(t, place), 1 + kind, name);
}

/* Counts one more or less. */
static void count(struct tracks *t, struct tracks_place *place, enum tracks_counter counter, bool more)
{
	static const char *const names[TRACKS_COUNTERS] = {
		[TRACKS_IN_FLIGHT] = "requests in flight",
		[TRACKS_WAITING] = "waiting for a buffer",
		[TRACKS_HOLDING] = "holding a buffer",
	};
	uint32_t *track = &place->counters[counter].track;

	if (*track == MAP_NONE)
		*track = packets_add_counter(t->packets, place->track, slice_of(names[counter]));
	place->counters[counter].value += more ? 1 : -1;
}

void tracks_count(struct tracks *t, uint32_t place, uint64_t ns, bool more)
{
	struct tracks_place *there = find(t, place), *const places[] = {process_of(t, place), there};

	for (unsigned i = 0; i < 2; i++) {
		count(t, places[i], TRACKS_IN_FLIGHT, more);
		packets_count(t->packets, places[i]->counters[TRACKS_IN_FLIGHT].track, ns,
			      places[i]->counters[TRACKS_IN_FLIGHT].value);
	}
}

bool tracks_is_idle(struct tracks *t, uint32_t place)
{
	return !find(t, place)->counters[TRACKS_IN_FLIGHT].value;
}

static void draw_number(struct tracks *t, struct tracks_number *number)
{
	if (number->value != number->drawn)
		packets_count(t->packets, number->track, number->latest, number->value);
	number->drawn = number->value;
}

static void count_buffer(struct tracks *t, uint32_t place, enum tracks_counter counter, uint64_t ns, bool more)
{
	enum { A_MICROSECOND = 1000 };
	struct tracks_place *there = find(t, place);
	struct tracks_number *number = &there->counters[counter];

	if (ns - number->first >= A_MICROSECOND)
		draw_number(t, number);
	if (number->value == number->drawn)
		number->first = ns;
	number->latest = ns;
	count(t, there, counter, more);
}

void tracks_wait(struct tracks *t, uint32_t place, uint64_t ns, bool more)
{
	count_buffer(t, t->tree.all[place].process, TRACKS_WAITING, ns, more);
}

void tracks_hold(struct tracks *t, uint32_t place, uint64_t ns, bool more)
{
	uint32_t in = t->tree.all[place].in;

	if (in != MAP_NONE && t->tree.all[in].kind == TRACK_TREE_HOST)
		place = in;
	count_buffer(t, place, TRACKS_HOLDING, ns, more);
}

/* Draws a rate of the latest millisecond, then 0 unless next, the next one with rates, follows directly. */
static void draw_rate(struct tracks *t, struct tracks_place *process, enum tracks_rate rate, uint64_t next)
{
	static const char *const names[TRACKS_RATES] = {[TRACKS_IOPS] = "IOPS", [TRACKS_BLOCKS] = "blocks per second"};
	enum { NS = 1000000, A_SECOND = 1000 };
	uint32_t *track = &process->rates[rate].track;
	uint64_t sum = process->rates[rate].sum;

	process->rates[rate].sum = 0;
	if (*track == MAP_NONE && !sum)
		return;
	if (*track == MAP_NONE)
		*track = packets_add_counter(t->packets, process->track, slice_of(names[rate]));
	packets_count(t->packets, *track, process->ms * NS, sum * A_SECOND);
	if (sum && next > process->ms + 1)
		packets_count(t->packets, *track, (process->ms + 1) * NS, 0);
}

static void draw_rates(struct tracks *t, struct tracks_place *process, uint64_t next)
{
	if (!process->rates[TRACKS_IOPS].sum)
		return;
	for (enum tracks_rate rate = 0; rate < TRACKS_RATES; rate++)
		draw_rate(t, process, rate, next);
}

void tracks_end(struct tracks *t, uint32_t place, uint64_t ns, uint64_t blocks)
{
	struct tracks_place *process = process_of(t, place);
	uint64_t ms = ns / 1000000;

	/* a request that ends out of order counts for the latest millisecond */
	if (ms > process->ms) {
		draw_rates(t, process, ms);
		process->ms = ms;
	}
	process->rates[TRACKS_IOPS].sum++;
	process->rates[TRACKS_BLOCKS].sum += blocks;
}

void tracks_depth(struct tracks *t, uint32_t place, struct slice channel, struct slice name, uint64_t ns,
		  uint64_t value)
{
	uint32_t *index = map_put(&t->depths, (uint64_t)place << 32 | intern_add(&t->channels, channel));
	struct tracks_depth *depth;

	if (*index == MAP_NONE) {
		*index = t->num_depths;
		mem_add(t->channel_depths, t->num_depths, t->cap_depths,
			(struct tracks_depth){
				.track = packets_add_counter(t->packets, tracks_place(t, place), name),
				.value = !value,
			});
	}
	depth = &t->channel_depths[*index];
	if (depth->value != value)
		packets_count(t->packets, depth->track, ns, value);
	depth->value = value;
}

void tracks_finish(struct tracks *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		draw_number(t, &t->all[i].counters[TRACKS_WAITING]);
		draw_number(t, &t->all[i].counters[TRACKS_HOLDING]);
		draw_rates(t, &t->all[i], UINT64_MAX);
	}
}

void tracks_free(struct tracks *t)
{
	for (size_t i = 0; i < t->num_lanes; i++)
		lanes_free(&t->lanes[i]);
	free(t->lanes);
	free(t->all);
	map_free(&t->rows);
	intern_free(&t->channels);
	map_free(&t->depths);
	free(t->channel_depths);
	track_tree_free(&t->tree);
}
