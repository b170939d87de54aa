/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the packets of a trace: tracks, and the events on them.
 *
 * Each track is a packet sequence of its own, so its packets need not name it, and their timestamps
 * are relative to the previous packet. Names are interned: a sequence defines each once and then
 * writes its number. In each epoch, a sequence starts again: it drops its definitions, and describes
 * its track and those above it. A stream can be cut there.
 *
 * All texts are as in JSON between quotes, unless a function says otherwise.
 */
#ifndef TRACE_PERFETTO_PACKETS_H
#define TRACE_PERFETTO_PACKETS_H

#include "notes.h"

enum {
	/* names of events that are interned; those that come later are written in full */
	PACKETS_NAMES = NOTES_MAX,
	/* an epoch ends after this many bytes of output, or after this much trace time */
	PACKETS_EPOCH_BYTES = 8 << 20,
	/* values of counters that an event may have */
	PACKETS_COUNTERS = 2,
	/* lists of notes that an event may have */
	PACKETS_NOTES = 2,
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
	uint32_t counters[PACKETS_COUNTERS];
	bool has_counters;
	char head[16]; /* how each packet with an event starts */
	unsigned head_n;
	/* bits: numbers that the sequence has defined, those of notes first */
	uint64_t seen[(NOTES_KINDS + 1) * NOTES_MAX / 64];
};

struct packets {
	struct out *out;             /* set before the first call */
	const struct intern *events; /* the names of events; set before the first call, too */
	struct notes notes;          /* filled by the caller, after notes_clear() for each event */
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
	/* notes, which packets_close() appends to the event */
	struct slice notes_of_event[PACKETS_NOTES];
	unsigned num_notes;
};

void packets_start(struct packets *p);

/* Adds a track and returns its number. Only tracks that are used, and those above them, are written. */
uint32_t packets_add_track(struct packets *p, uint32_t parent, uint32_t rank, struct slice name, bool is_counter);

/* Starts a new epoch if one is due. To be called between slices, with the time of the latest line. */
void packets_pass(struct packets *p, uint64_t ns);

/* Whether a snapshot of the time of day is due; writes one. ns: trace time; realtime: time of day, as in wall.h. */
bool packets_wants_clock(const struct packets *p);
void packets_clock(struct packets *p, uint64_t ns, uint64_t realtime);

/*
 * An event: packets_open(), some of the functions below, packets_close(). type: of TrackEvent. A slice
 * must begin after everything before it on its track, and end after everything that it contains.
 */
void packets_open(struct packets *p, uint32_t track, uint64_t ns, unsigned type);
void packets_close(struct packets *p);

/* Ends the innermost slice: an event without anything else. */
void packets_end(struct packets *p, uint32_t track, uint64_t ns);

/* An event with a name and notes. */
void packets_named(struct packets *p, uint32_t track, uint64_t ns, unsigned type, uint32_t event,
		   struct notes_list list);

void packets_count(struct packets *p, uint32_t track, uint64_t ns, uint64_t value);

/* The event's name: a number of events, or a text. */
void packets_name(struct packets *p, uint32_t event);
void packets_name_text(struct packets *p, struct slice name);

/* New values of counters, which are tracks: those of packets_expect() if it was called for the event's track. */
void packets_values(struct packets *p, const uint32_t counters[PACKETS_COUNTERS],
		    const uint64_t values[PACKETS_COUNTERS]);

/* Declares the counters that events of a track may set. To be called before its first event. */
void packets_expect(struct packets *p, uint32_t track, const uint32_t counters[PACKETS_COUNTERS]);

/* An arrow leads from an event to the next one that has the same flow. last: no other one follows. */
void packets_flow(struct packets *p, uint64_t flow, bool last);

/* Notes, after everything else. They must be valid until packets_close(). */
void packets_notes(struct packets *p, struct notes_list list);

void packets_free(struct packets *p);

#endif
