/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tracks of places (common/places.h), and those below them.
 *
 *	process
 *		requests in flight, waiting for a buffer, IOPS
 *		lcore
 *			off CPU, interrupts: rows
 *		host
 *			connection
 *				requests in flight
 *				rows for each type of objects
 */
#ifndef TRACE_PERFETTO_TRACKS_H
#define TRACE_PERFETTO_TRACKS_H

#include "lanes.h"
#include "packets.h"
#include "places.h"

/* What is counted. */
enum tracks_counter { TRACKS_IN_FLIGHT, TRACKS_WAITING, TRACKS_COUNTERS };

struct tracks {
	struct packets *packets; /* set before the first call */
	struct places places;
	struct tracks_place {
		uint32_t track;
		struct {
			uint32_t track; /* MAP_NONE: not used so far */
			uint64_t value;
		} counters[TRACKS_COUNTERS];
		/*
		 * of a process: the track of its IOPS, the latest millisecond in which requests ended, and how many did
		 */
		uint32_t rate;
		uint64_t ms, ended;
	} * all; /* by place */
	uint32_t n;
	size_t cap;
	struct map rows; /* a place and a kind: index in lanes */
	struct lanes *lanes;
	size_t num_lanes, cap_lanes;
};

/* The track of a place. */
uint32_t tracks_place(struct tracks *t, uint32_t place);

/*
 * The track of a row for a slice from first to end (lanes.h). MAP_NONE: the row is new; set it to what
 * tracks_add_row() returns. kind: which rows of the place, such as those of a type of objects.
 */
uint32_t *tracks_row(struct tracks *t, uint32_t place, uint32_t kind, uint64_t first, uint64_t end);
uint32_t tracks_add_row(struct tracks *t, uint32_t place, uint32_t kind, struct slice name);

/* The requests in flight: in the place's process, and in the place. */
struct tracks_count {
	uint64_t values[PACKETS_COUNTERS];
};

/* Counts one more, or one less, in flight. Returns the new numbers, to be drawn. */
struct tracks_count tracks_count(struct tracks *t, uint32_t place, bool more);

/* Draws the numbers: with the event being written, or by themselves at a time in ns. */
void tracks_draw_with(struct tracks *t, uint32_t place, struct tracks_count count);
void tracks_draw(struct tracks *t, uint32_t place, uint64_t ns, struct tracks_count count);

/* Counts one more, or one less, waiting for a buffer, and draws the number. */
void tracks_wait(struct tracks *t, uint32_t place, uint64_t ns, bool more);

/* A request has ended there. */
void tracks_end(struct tracks *t, uint32_t place, uint64_t ns);

/* Writes the rates of the last milliseconds. */
void tracks_finish(struct tracks *t);

void tracks_free(struct tracks *t);

#endif
