/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the packets of a Perfetto trace: its tracks, and the events on them. Times are in nanoseconds. Texts are as in
 * JSON between quotes, and valid during the call.
 *
 * Each track is a packet sequence of its own, so its packets need not name it, and their timestamps
 * are relative to the previous packet. Names are interned: a sequence defines each once and then
 * writes its number. In each epoch, a sequence starts again: it drops its definitions, and describes
 * its track and those above it. A stream can be cut there.
 */
#pragma once

#include "annotations.h"
#include "traceline.h"

/* The end of a slice that is still open. */
#define PACKETS_NO_END UINT64_MAX

enum {
	/* names of states that are interned; those that come later are written in full */
	PACKETS_NAMES = ANNOTATIONS_MAX,
	/* an epoch ends after this many bytes of output, or after this much trace time */
	PACKETS_EPOCH_BYTES = 8 << 20,
};
#define PACKETS_EPOCH_NS (10 * 1000000000ULL)

struct packets_track {
	struct slice name; /* decoded */
	uint32_t parent;   /* MAP_NONE: at the top */
	uint32_t rank;     /* among its siblings, the lowest comes first */
	bool is_counter;
	uint32_t described, started; /* the epochs in which it was described, and its sequence started; 0: never */
	uint64_t ns;                 /* of the latest packet of its sequence */
	char head[16];               /* how each packet with an event starts */
	unsigned head_n;
	/* bits: numbers that the sequence has defined, those of annotations first */
	uint64_t seen[(ANNOTATIONS_KINDS + 1) * ANNOTATIONS_MAX / 64];
};

struct packets {
	struct out *out;
	const struct intern *states;
	struct annotations annotations; /* of the next event that is written */
	struct packets_track **tracks;
	uint32_t num_tracks;
	size_t cap_tracks;
	uint32_t epoch;              /* counts from 1 */
	uint64_t epoch_ns, written;  /* the start of the epoch, and bytes since */
	uint64_t clock_ns, realtime; /* of the latest snapshot of the time of day */
	uint32_t clock_epoch;
	struct packets_track *track; /* of the event being written */
	uint64_t ticks;              /* its time, on the clock of the sequence */
	bool is_absolute;            /* or on that of the trace */
	struct out packet, event, interned;
};

/* p is all zero; states: their names. */
void packets_start(struct packets *p, struct out *out, const struct intern *states);

/* Gets each line before it is drawn; ns: its time. */
void packets_line(struct packets *p, const struct traceline *line, uint64_t ns);

/*
 * Adds a track and returns its number. parent: MAP_NONE for one at the top; rank: among its siblings, the lowest comes
 * first. Only tracks that are used, and those above them, are written.
 */
uint32_t packets_add_track(struct packets *p, uint32_t parent, uint32_t rank, struct slice name);
uint32_t packets_add_counter(struct packets *p, uint32_t parent, struct slice name);

/*
 * Starts a slice: packets_begin(), packets_arrow() for each of its arrows, packets_annotate(); later packets_end(). A
 * slice must begin after everything before it on its track, and end after everything that it contains.
 */
void packets_begin(struct packets *p, uint32_t track, uint64_t begin, struct slice name);
/* An arrow with a number of its own leads from one event to another, which is later or at the same time. */
void packets_arrow(struct packets *p, uint64_t number, bool to_here, bool later);
void packets_annotate(struct packets *p);
void packets_end(struct packets *p, uint32_t track, uint64_t end);

/*
 * A whole slice for a state, and a point in time, with the annotations. state: its number; arrow: the number of one
 * that ends there, or 0.
 */
void packets_state(struct packets *p, uint32_t track, uint64_t begin, uint64_t end, uint32_t state);
void packets_instant(struct packets *p, uint32_t track, uint64_t ns, uint32_t state, uint64_t arrow);

/* A new value of a counter. */
void packets_count(struct packets *p, uint32_t counter, uint64_t ns, uint64_t value);

void packets_free(struct packets *p);
