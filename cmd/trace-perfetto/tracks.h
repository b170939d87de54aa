/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tracks of places (track_tree.h), and those below them.
 *
 *	process
 *		requests in flight, waiting for a buffer, IOPS, blocks per second
 *		lcore
 *			queue depths
 *			off CPU, interrupts: rows
 *		host
 *			holding a buffer
 *			connection
 *				requests in flight, queue depth
 *				rows for each type of objects
 */
#pragma once

#include "lanes.h"
#include "packets.h"
#include "track_tree.h"

/* What is counted, and what is summed up in each millisecond. */
enum tracks_counter { TRACKS_IN_FLIGHT, TRACKS_WAITING, TRACKS_HOLDING, TRACKS_COUNTERS };
enum tracks_rate { TRACKS_IOPS, TRACKS_BLOCKS, TRACKS_RATES };

struct tracks {
	struct packets *packets; /* set before the first call */
	struct track_tree tree;
	struct tracks_place {
		uint32_t track;
		struct tracks_number {
			uint32_t track; /* MAP_NONE: not used so far */
			uint64_t value;
			/* of buffers: the value that was drawn, and ns of the first and the latest change since */
			uint64_t drawn, first, latest;
		} counters[TRACKS_COUNTERS];
		/* of a process: the latest millisecond in which requests ended, and the sums of that */
		uint64_t ms;
		struct {
			uint32_t track; /* ditto */
			uint64_t sum;
		} rates[TRACKS_RATES];
	} * all; /* by place */
	uint32_t n;
	size_t cap;
	struct map rows; /* a place and a kind: index in lanes */
	struct lanes *lanes;
	size_t num_lanes, cap_lanes;
	struct intern channels; /* with queue depths, by their pollers */
	struct map depths;      /* a place and a channel: index in channel_depths */
	struct tracks_depth {
		uint32_t track;
		uint64_t value;
	} * channel_depths;
	size_t num_depths, cap_depths;
};

/* The track of a place. */
uint32_t tracks_place(struct tracks *t, uint32_t place);

/*
 * The track of a row for a slice from first to end (lanes.h). MAP_NONE: the row is new; set it to what
 * tracks_add_row() returns. kind: which rows of the place, such as those of a type of objects.
 */
uint32_t *tracks_row(struct tracks *t, uint32_t place, uint32_t kind, uint64_t first, uint64_t end);
uint32_t tracks_add_row(struct tracks *t, uint32_t place, uint32_t kind, struct slice name);

/* Counts one more, or one less, in flight, in the place's process and in the place, and draws the numbers. */
void tracks_count(struct tracks *t, uint32_t place, uint64_t ns, bool more);

/* Whether no request is in flight in the place. */
bool tracks_is_idle(struct tracks *t, uint32_t place);

/*
 * Counts one more, or one less, waiting for a buffer, in its process, or holding one, in its host. Draws the numbers
 * that last a microsecond: most requests wait for less.
 */
void tracks_wait(struct tracks *t, uint32_t place, uint64_t ns, bool more);
void tracks_hold(struct tracks *t, uint32_t place, uint64_t ns, bool more);

/* A request for this number of blocks has ended there. */
void tracks_end(struct tracks *t, uint32_t place, uint64_t ns, uint64_t blocks);

/* Draws the queue depth of a channel, if it has changed. name: of the counter, which is drawn in the place. */
void tracks_depth(struct tracks *t, uint32_t place, struct slice channel, struct slice name, uint64_t ns,
		  uint64_t value);

/* Writes the latest numbers, and the rates of the last milliseconds. */
void tracks_finish(struct tracks *t);

void tracks_free(struct tracks *t);
