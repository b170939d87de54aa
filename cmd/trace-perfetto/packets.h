/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes (writer.h) the packets of a Perfetto trace.
 *
 * Each track is a packet sequence of its own, so its packets need not name it, and their timestamps
 * are relative to the previous packet. Names are interned: a sequence defines each once and then
 * writes its number. In each epoch, a sequence starts again: it drops its definitions, and describes
 * its track and those above it. A stream can be cut there.
 */
#ifndef TRACE_PERFETTO_PACKETS_H
#define TRACE_PERFETTO_PACKETS_H

#include "annotations.h"
#include "intern.h"
#include "writer.h"

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
	/* counters whose values its events have, or MAP_NONE; whether its sequence declared them at its start */
	uint32_t counters[WRITER_VALUES];
	bool has_counters;
	char head[16]; /* how each packet with an event starts */
	unsigned head_n;
	/* bits: numbers that the sequence has defined, those of annotations first */
	uint64_t seen[(ANNOTATIONS_KINDS + 1) * ANNOTATIONS_MAX / 64];
};

struct packets {
	struct out *out;
	const struct intern *states;
	struct annotations annotations;
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

/* Returns the writer. p is all zero; states: their names. */
struct writer packets_start(struct packets *p, struct out *out, const struct intern *states);

void packets_free(struct packets *p);

#endif
