/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the packets of a trace: tracks, and the events on them.
 *
 * Each track is a packet sequence of its own. So its packets need not name it, and their times are
 * relative to the one before. Names are interned: a sequence writes each once and then its number.
 * From time to time, and at the start of what is one, a sequence forgets all that and starts again
 * with the descriptions of its track and of those above it. A stream can be cut there.
 *
 * All texts are as in JSON between quotes, unless a function says otherwise.
 */
#ifndef TRACE_PERFETTO_PACKETS_H
#define TRACE_PERFETTO_PACKETS_H

#include "intern.h"
#include "out.h"
#include "traceline.h"

enum {
	/* names of each kind that are interned; those that come later are written in full */
	PACKETS_NAMES = 512,
	/* sequences start again after this many bytes of output, and after this much trace time */
	PACKETS_EPOCH_BYTES = 8 << 20,
};
#define PACKETS_EPOCH_NS (10 * 1000000000ULL)

/* Kinds of interned names. */
enum packets_kind { PACKETS_EVENT_NAMES, PACKETS_NOTE_NAMES, PACKETS_STRINGS, PACKETS_KINDS };

/* Names of the notes of an event. */
enum packets_note {
	NOTE_ID,
	NOTE_VALUE,
	NOTE_TSC,
	NOTE_RELATED,
	NOTE_POLLER,
	NOTE_OWNER,
	NOTE_SIZE,
	NOTE_LCORE,
	NOTE_OPEN,
	NOTE_CUT,
	NOTE_TORN,
	NOTE_IO,
	NOTE_ARGS,
	NOTES
};

struct track {
	char *name;
	uint32_t parent; /* MAP_NONE: at the top */
	uint32_t rank;   /* among its siblings, the lowest comes first */
	bool is_counter;
	uint32_t described, started; /* the epochs in which it was described, and its sequence started; 0: never */
	uint64_t ns;                 /* of the latest packet of its sequence */
	/* bits: names that the sequence has */
	uint64_t seen[PACKETS_KINDS][PACKETS_NAMES / 64];
};

struct packets {
	struct out *out;             /* set before the first call */
	const struct intern *events; /* the names of events, too */
	struct intern notes, strings;
	struct track **tracks;
	uint32_t num_tracks;
	size_t cap_tracks;
	uint32_t epoch;              /* counts from 1 */
	uint64_t epoch_ns, written;  /* the start of the epoch, and bytes since */
	uint64_t clock_ns, realtime; /* of the latest snapshot of the time of day */
	uint32_t clock_epoch;
	struct track *track; /* of the event that is made */
	struct out packet, interned;
	size_t event; /* where the event starts in the packet */
};

void packets_start(struct packets *p);

/* Adds a track and returns its number. Only tracks that are used are written, and those above them. */
uint32_t packets_add_track(struct packets *p, uint32_t parent, uint32_t rank, struct slice name, bool is_counter);

/* To be called between slices, with the time of the latest line: whether sequences start again. */
void packets_pass(struct packets *p, uint64_t ns);

/* Whether a snapshot of the time of day is due, and writing one for a time of the trace. */
bool packets_wants_clock(const struct packets *p);
void packets_clock(struct packets *p, uint64_t ns, uint64_t realtime);

/*
 * An event: packets_open(), what follows, packets_close(). type: of TrackEvent. A slice begins after
 * all that its track has, and ends after all that it contains.
 */
void packets_open(struct packets *p, uint32_t track, uint64_t ns, unsigned type);
void packets_close(struct packets *p);

/* The end of the innermost slice; an event without anything else. */
void packets_end(struct packets *p, uint32_t track, uint64_t ns);

void packets_count(struct packets *p, uint32_t track, uint64_t ns, uint64_t value);

/* The event's name: a number of events, or a text. */
void packets_name(struct packets *p, uint32_t event);
void packets_name_text(struct packets *p, struct slice name);

/* Arrows lead from events to those after them that have the same flow. last: no other one follows. */
void packets_flow(struct packets *p, uint64_t flow, bool last);

/* What else is known: debug annotations. */
void packets_note_flag(struct packets *p, enum packets_note name);
void packets_note_uint(struct packets *p, enum packets_note name, uint64_t value);
void packets_note_pointer(struct packets *p, enum packets_note name, uint64_t value);
/* once: it is not worth to be interned */
void packets_note_text(struct packets *p, enum packets_note name, struct slice text, bool once);

/* A value as in JSON: an object has notes of its own; arrays, and objects too deep in it, are text. */
void packets_note_value(struct packets *p, enum packets_note name, struct slice value);

/* Writes a note for each member of an object; text may be empty. */
void packets_note_members(struct packets *p, struct slice object);

void packets_free(struct packets *p);

#endif
