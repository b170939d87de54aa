/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture of a trace: tracks, and the events on them. draw.c calls these functions; each tool that draws a trace
 * defines them, and struct picture, for its own format.
 *
 * Times are in nanoseconds. Texts are as in JSON between quotes.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include "notes.h"

enum picture_kind {
	PICTURE_PROCESS,
	PICTURE_HOST,
	PICTURE_CONNECTION,
	PICTURE_THREAD, /* an lcore, or another thread */
	PICTURE_ROW,    /* of slices that do not overlap */
	PICTURE_COUNTER,
};

/* The end of a slice that is still open. */
#define PICTURE_NO_END UINT64_MAX

/* New values of counters, which are tracks, with an event. */
enum { PICTURE_COUNTERS = 2 };

struct picture_values {
	uint32_t counters[PICTURE_COUNTERS];
	uint64_t values[PICTURE_COUNTERS];
};

struct picture;

/*
 * Adds a track and returns its number. parent: MAP_NONE for one at the top; rank: among its siblings, the lowest comes
 * first. Only tracks that are used, and those above them, are written.
 */
uint32_t picture_add_track(struct picture *p, enum picture_kind kind, uint32_t parent, uint32_t rank,
			   struct slice name);

/* Says which counters the slices of a track may have values of. To be called before its first event. */
void picture_expect(struct picture *p, uint32_t track, const uint32_t counters[PICTURE_COUNTERS]);

/*
 * Starts a slice: picture_begin(), picture_arrow() for each of its arrows, picture_close() with its notes; later
 * picture_end() with the same end. A slice must begin after everything before it on its track, and end after everything
 * that it contains. values: NULL if there are none.
 */
void picture_begin(struct picture *p, uint32_t track, uint64_t begin, uint64_t end, struct slice name,
		   const struct picture_values *values);
/* An arrow with a number of its own leads from one event to another, which is later or at the same time. */
void picture_arrow(struct picture *p, uint64_t number, bool to_here, bool later);
void picture_close(struct picture *p, const struct notes *notes);
void picture_end(struct picture *p, uint32_t track, uint64_t end, const struct picture_values *values);

/*
 * A whole slice for a state, and a point in time. state: a number of the names that the picture was given; arrow: the
 * number of one that ends there, or 0.
 */
void picture_state(struct picture *p, uint32_t track, uint64_t begin, uint64_t end, uint32_t state,
		   const struct notes *notes);
void picture_instant(struct picture *p, uint32_t track, uint64_t ns, uint32_t state, uint64_t arrow,
		     const struct notes *notes);

/* A new value of a counter. */
void picture_count(struct picture *p, uint32_t counter, uint64_t ns, uint64_t value);

#endif
