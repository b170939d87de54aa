/* SPDX-License-Identifier: BSD-3-Clause */
#include "tracks.h"

#include <stdlib.h>

#include "mem.h"

/* Ranks of a process's tracks: counters, lcores, threads, hosts and connections. */
enum { RANK_COUNTER, RANK_LCORE, RANK_THREAD = 1 << 20, RANK_HOST };

static uint32_t rank_of(const struct places *p, uint32_t place)
{
	uint64_t lcore = p->all[place].lcore;

	switch (p->all[place].kind) {
	case PLACES_PROCESS:
		return place;
	case PLACES_LCORE:
		return RANK_LCORE + (lcore < RANK_THREAD - 1 ? lcore : RANK_THREAD - 2);
	case PLACES_THREAD:
		return RANK_THREAD;
	default:
		return RANK_HOST;
	}
}

/* Adds tracks of new places. A place comes after the one that it is in. */
static void add_places(struct tracks *t)
{
	for (; t->n < t->places.keys.n; t->n++) {
		const struct place *p = &t->places.all[t->n];
		struct tracks_place new = {.rate = MAP_NONE};

		new.track = packets_add_track(t->packets, p->in == MAP_NONE ? MAP_NONE : t->all[p->in].track,
					      rank_of(&t->places, t->n), p->name, false);
		for (unsigned i = 0; i < TRACKS_COUNTERS; i++)
			new.counters[i].track = MAP_NONE;
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
	return find(t, t->places.all[place].process);
}

/*
 * The tracks of these numbers; false: nothing was ever counted. The larger number comes first, because trace_processor
 * drops the values of an event after one that is 0.
 */
static bool find_counters(struct tracks *t, uint32_t place, uint32_t tracks[PACKETS_COUNTERS])
{
	tracks[1] = find(t, place)->counters[TRACKS_IN_FLIGHT].track;
	tracks[0] = process_of(t, place)->counters[TRACKS_IN_FLIGHT].track;
	return tracks[1] != MAP_NONE;
}

uint32_t *tracks_row(struct tracks *t, uint32_t place, uint32_t kind, uint64_t first, uint64_t end)
{
	uint32_t *index = map_put(&t->rows, (uint64_t)place << 32 | kind);

	if (*index == MAP_NONE) {
		*index = t->num_lanes;
		t->lanes = mem_room(t->lanes, t->num_lanes, &t->cap_lanes);
		t->lanes[t->num_lanes++] = (struct lanes){};
	}
	return lanes_assign(&t->lanes[*index], first, end);
}

uint32_t tracks_add_row(struct tracks *t, uint32_t place, uint32_t kind, struct slice name)
{
	uint32_t track = packets_add_track(t->packets, tracks_place(t, place), 1 + kind, name, false);
	uint32_t counters[PACKETS_COUNTERS];

	if (find_counters(t, place, counters))
		packets_expect(t->packets, track, counters);
	return track;
}

/* Counts one more or less. Returns the number. */
static uint64_t count(struct tracks *t, struct tracks_place *place, enum tracks_counter counter, bool more)
{
	static const char *const names[TRACKS_COUNTERS] = {
		[TRACKS_IN_FLIGHT] = "requests in flight",
		[TRACKS_WAITING] = "waiting for a buffer",
	};
	uint32_t *track = &place->counters[counter].track;

	if (*track == MAP_NONE)
		*track = packets_add_track(t->packets, place->track, RANK_COUNTER, slice_of(names[counter]), true);
	return place->counters[counter].value += more ? 1 : -1;
}

struct tracks_count tracks_count(struct tracks *t, uint32_t place, bool more)
{
	struct tracks_place *there = find(t, place);
	uint64_t all = count(t, process_of(t, place), TRACKS_IN_FLIGHT, more);

	return (struct tracks_count){{all, count(t, there, TRACKS_IN_FLIGHT, more)}};
}

void tracks_draw_with(struct tracks *t, uint32_t place, struct tracks_count count)
{
	uint32_t tracks[PACKETS_COUNTERS];

	if (find_counters(t, place, tracks))
		packets_values(t->packets, tracks, count.values);
}

void tracks_draw(struct tracks *t, uint32_t place, uint64_t ns, struct tracks_count count)
{
	uint32_t tracks[PACKETS_COUNTERS];

	if (!find_counters(t, place, tracks))
		return;
	for (unsigned i = 0; i < PACKETS_COUNTERS; i++)
		packets_count(t->packets, tracks[i], ns, count.values[i]);
}

void tracks_wait(struct tracks *t, uint32_t place, uint64_t ns, bool more)
{
	struct tracks_place *process = process_of(t, place);
	uint64_t value = count(t, process, TRACKS_WAITING, more);

	packets_count(t->packets, process->counters[TRACKS_WAITING].track, ns, value);
}

/* Writes the rate of the latest millisecond, then 0 unless next, the next one with a rate, follows directly. */
static void write_rate(struct tracks *t, struct tracks_place *process, uint64_t next)
{
	enum { NS = 1000000, A_SECOND = 1000 };

	if (!process->ended)
		return;
	if (process->rate == MAP_NONE)
		process->rate = packets_add_track(t->packets, process->track, RANK_COUNTER, slice_of("IOPS"), true);
	packets_count(t->packets, process->rate, process->ms * NS, process->ended * A_SECOND);
	if (next > process->ms + 1)
		packets_count(t->packets, process->rate, (process->ms + 1) * NS, 0);
	process->ended = 0;
}

void tracks_end(struct tracks *t, uint32_t place, uint64_t ns)
{
	struct tracks_place *process = process_of(t, place);
	uint64_t ms = ns / 1000000;

	/* a request that ends out of order counts for the latest millisecond */
	if (ms > process->ms) {
		write_rate(t, process, ms);
		process->ms = ms;
	}
	process->ended++;
}

void tracks_finish(struct tracks *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		write_rate(t, &t->all[i], UINT64_MAX);
}

void tracks_free(struct tracks *t)
{
	for (size_t i = 0; i < t->num_lanes; i++)
		free(t->lanes[i].all);
	free(t->lanes);
	free(t->all);
	map_free(&t->rows);
	places_free(&t->places);
}
