/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where things are drawn: a tree of tracks.
 *
 *	process, by the source of the lines
 *		requests in flight, waiting for a buffer, IOPS
 *		lcore
 *			off CPU, interrupts: rows
 *		host
 *			connection
 *				requests in flight
 *				rows for each type of objects
 */
#ifndef TRACE_PERFETTO_PLACES_H
#define TRACE_PERFETTO_PLACES_H

#include "lanes.h"
#include "packets.h"

/* What is counted. */
enum places_counter { PLACES_IN_FLIGHT, PLACES_WAITING, PLACES_COUNTERS };

/* A track with others below it. */
struct place {
	uint32_t track;
	uint32_t process; /* a place */
	struct place_counter {
		uint32_t track; /* MAP_NONE: not used so far */
		uint64_t value;
	} counters[PLACES_COUNTERS];
	/* of a process: its counter of requests that end, and how many did in the latest millisecond with one */
	uint32_t rate;
	uint64_t ms, ended;
};

struct places {
	struct packets *packets; /* set before the first call */
	struct intern keys;      /* of places */
	struct place *all;
	size_t cap;
	uint32_t process; /* that of the latest line, whose source this is; its p is NULL without one */
	struct slice source;
	struct map lcores; /* a process and an lcore: its place, for those below 2^32 */
	struct map rows;   /* a place and a kind: index in lanes */
	struct lanes *lanes;
	size_t num_lanes, cap_lanes;
	struct out key, name;
};

/* These return the place of a line, which is added if it is new: */
uint32_t places_process(struct places *p, const struct traceline *line);
uint32_t places_lcore(struct places *p, const struct traceline *line, uint64_t lcore);
/* a thread that is no lcore */
uint32_t places_thread(struct places *p, const struct traceline *line, struct slice comm, struct slice tid);
/* of the object in the line: its connection, or its owner */
uint32_t places_connection(struct places *p, const struct traceline *line);

/* The track of a row of a place for a slice from first to end (lanes.h). kind: numbers the rows of a place. */
uint32_t places_row(struct places *p, uint32_t place, uint32_t kind, struct slice name, uint64_t first, uint64_t end);

/* The requests in flight in its process, and there. */
struct places_count {
	uint64_t values[PACKETS_COUNTERS];
};

/* One more, or less, is in flight. Returns the numbers from now on, which are to be drawn. */
struct places_count places_count(struct places *p, uint32_t place, bool more);

/* Draws the numbers from a time on: with the event that is being made, or by themselves. */
void places_draw_with(struct places *p, uint32_t place, struct places_count count);
void places_draw(struct places *p, uint32_t place, uint64_t ns, struct places_count count);

/* One more, or less, waits for a buffer from now on. */
void places_wait(struct places *p, uint32_t place, uint64_t ns, bool more);

/* A request has ended there. */
void places_end(struct places *p, uint32_t place, uint64_t ns);

/* Writes the rates of the last milliseconds. */
void places_finish(struct places *p);

void places_free(struct places *p);

#endif
