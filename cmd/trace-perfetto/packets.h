/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A picture (picture.h) as the packets of a Perfetto trace.
 *
 * Each track is a packet sequence of its own, so its packets need not name it, and their timestamps
 * are relative to the previous packet. Names are interned: a sequence defines each once and then
 * writes its number. In each epoch, a sequence starts again: it drops its definitions, and describes
 * its track and those above it. A stream can be cut there.
 */
#ifndef TRACE_PERFETTO_PACKETS_H
#define TRACE_PERFETTO_PACKETS_H

#include "annotations.h"
#include "picture.h"

enum {
	/* names of states that are interned; those that come later are written in full */
	PACKETS_NAMES = NOTES_MAX,
	/* an epoch ends after this many bytes of output, or after this much trace time */
	PACKETS_EPOCH_BYTES = 8 << 20,
};
#define PACKETS_EPOCH_NS (10 * 1000000000ULL)

struct track {
	char *name;
	uint32_t parent; /* MAP_NONE: at the top */
	uint32_t rank;   /* among its siblings, the lowest comes first */
	bool is_counter;
	uint32_t described, started; /* the epochs in which it was described, and its sequence started; 0: never */
	uint64_t ns;                 /* of the latest packet of its sequence */
	/* counters whose values its events have, or MAP_NONE; whether its sequence declared them at its start */
	uint32_t counters[PICTURE_COUNTERS];
	bool has_counters;
	char head[16]; /* how each packet with an event starts */
	unsigned head_n;
	/* bits: numbers that the sequence has defined, those of notes first */
	uint64_t seen[(NOTES_KINDS + 1) * NOTES_MAX / 64];
};

struct picture {
	struct out *out;             /* set before the first call */
	const struct intern *states; /* set before the first call, too */
	struct notes notes;
	struct track **tracks;
	uint32_t num_tracks;
	size_t cap_tracks;
	uint32_t epoch;              /* counts from 1 */
	uint64_t epoch_ns, written;  /* the start of the epoch, and bytes since */
	uint64_t clock_ns, realtime; /* of the latest snapshot of the time of day */
	uint32_t clock_epoch;
	struct track *track; /* of the event being written */
	uint64_t ticks;      /* its time, on the clock of the sequence */
	bool is_absolute;    /* or on that of the trace */
	struct out packet, event, interned;
};

void packets_start(struct picture *p);

/* Starts a new epoch if one is due. To be called between slices, with the time of the latest line. */
void packets_pass(struct picture *p, uint64_t ns);

/* Whether a snapshot of the time of day is due; writes one. ns: trace time; realtime: time of day, as in wall.h. */
bool packets_wants_clock(const struct picture *p);
void packets_clock(struct picture *p, uint64_t ns, uint64_t realtime);

void packets_free(struct picture *p);

#endif
