/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"

#include <stdlib.h>

#include "mem.h"
#include "proto.h"

/* UUIDs of tracks count up from here. Another trace that is opened along with this one is unlikely to use them. */
#define UUID_BASE (0x7370646bULL << 32)

/* Short texts are copied with this constant size: buffers have room for it. */
enum { SHORT = 16 };

/* Room for a packet with a short event. */
enum { SHORT_PACKET = 64 };

void packets_start(struct picture *p)
{
	p->packet.fd = p->event.fd = p->interned.fd = OUT_MEMORY;
	p->epoch = 1;
	out_room(&p->event, SHORT);
	annotations_start(&p->notes);
}

/* Starts a packet of a track's sequence. */
static void start_packet(struct picture *p, uint32_t track)
{
	p->packet.len = 0;
	proto_uint(&p->packet, PACKET_SEQUENCE_ID, (uint64_t)track + 1);
}

uint32_t picture_add_track(struct picture *p, enum picture_kind kind, uint32_t parent, uint32_t rank, struct slice name)
{
	struct track *track = mem_array(1, sizeof(*track));

	*track = (struct track){
		.name = mem_copy(name), .parent = parent, .rank = rank, .is_counter = kind == PICTURE_COUNTER};
	for (unsigned i = 0; i < PICTURE_COUNTERS; i++)
		track->counters[i] = MAP_NONE;
	start_packet(p, p->num_tracks);
	proto_uint(&p->packet, PACKET_SEQUENCE_FLAGS, SEQ_NEEDS_INCREMENTAL_STATE);
	track->head_n = p->packet.len;
	memcpy(track->head, p->packet.buf, track->head_n);
	p->tracks = mem_room(p->tracks, p->num_tracks, &p->cap_tracks);
	p->tracks[p->num_tracks] = track;
	return p->num_tracks++;
}

void packets_pass(struct picture *p, uint64_t ns)
{
	if (p->written < PACKETS_EPOCH_BYTES && (ns < p->epoch_ns || ns - p->epoch_ns < PACKETS_EPOCH_NS))
		return;
	p->epoch++;
	p->epoch_ns = ns;
	p->written = 0;
}

static uint64_t uuid_of(uint32_t track)
{
	return UUID_BASE + track + 1;
}

static void write_packet(struct picture *p)
{
	p->written += p->packet.len;
	proto_bytes(p->out, TRACE_PACKET, out_contents(&p->packet));
}

static void put_clock(struct out *out, unsigned id, uint64_t ns, bool incremental)
{
	size_t clock = proto_open(out, SNAPSHOT_CLOCKS);

	proto_uint(out, CLOCK_ID, id);
	proto_uint(out, CLOCK_TIMESTAMP, ns);
	if (incremental)
		proto_uint(out, CLOCK_IS_INCREMENTAL, true);
	proto_close(out, clock);
}

static void describe(struct picture *p, uint32_t number)
{
	struct track *track = p->tracks[number];
	struct out *out = &p->packet;
	size_t descriptor, counter;

	if (track->described == p->epoch)
		return;
	track->described = p->epoch;
	if (track->parent != MAP_NONE)
		describe(p, track->parent);
	start_packet(p, number);
	descriptor = proto_open(out, PACKET_TRACK_DESCRIPTOR);
	proto_uint(out, TRACK_UUID, uuid_of(number));
	if (track->parent != MAP_NONE)
		proto_uint(out, TRACK_PARENT_UUID, uuid_of(track->parent));
	proto_string(out, TRACK_NAME, slice_of(track->name));
	proto_uint(out, TRACK_CHILD_ORDERING, ORDERING_EXPLICIT);
	proto_uint(out, TRACK_SIBLING_ORDER_RANK, track->rank);
	if (track->is_counter) {
		counter = proto_open(out, TRACK_COUNTER);
		proto_uint(out, COUNTER_UNIT, UNIT_COUNT);
		proto_close(out, counter);
	}
	proto_close(out, descriptor);
	write_packet(p);
}

/* Starts a track's sequence, or starts it again: sets its clock to ns, and the track of its events. */
static void start_sequence(struct picture *p, uint32_t number, uint64_t ns)
{
	struct track *track = p->tracks[number];
	struct out *out = &p->packet;
	size_t message, inner;

	/* the clock of a sequence must not go back */
	track->ns = ns > track->ns ? ns : track->ns;
	track->started = p->epoch;
	memset(track->seen, 0, sizeof(track->seen));
	track->has_counters = track->counters[0] != MAP_NONE;
	for (unsigned i = 0; i < PICTURE_COUNTERS && track->has_counters; i++)
		describe(p, track->counters[i]);
	start_packet(p, number);
	proto_uint(out, PACKET_SEQUENCE_FLAGS, SEQ_INCREMENTAL_STATE_CLEARED);
	message = proto_open(out, PACKET_DEFAULTS);
	proto_uint(out, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_SEQUENCE_ID);
	inner = proto_open(out, DEFAULTS_TRACK_EVENT);
	proto_uint(out, EVENT_DEFAULTS_TRACK_UUID, uuid_of(number));
	for (unsigned i = 0; i < PICTURE_COUNTERS && track->has_counters; i++)
		proto_uint(out, EVENT_DEFAULTS_EXTRA_COUNTERS, uuid_of(track->counters[i]));
	proto_close(out, inner);
	proto_close(out, message);
	message = proto_open(out, PACKET_CLOCK_SNAPSHOT);
	put_clock(out, CLOCK_SEQUENCE_ID, track->ns, true);
	put_clock(out, CLOCK_BOOTTIME_ID, track->ns, false);
	proto_close(out, message);
	write_packet(p);
}

bool packets_wants_clock(const struct picture *p)
{
	return p->clock_epoch != p->epoch;
}

void packets_clock(struct picture *p, uint64_t ns, uint64_t realtime)
{
	size_t snapshot;

	/* a clock that was set back cannot be converted any more */
	if (ns < p->clock_ns || realtime < p->realtime)
		return;
	p->clock_epoch = p->epoch;
	p->clock_ns = ns;
	p->realtime = realtime;
	start_packet(p, 0);
	snapshot = proto_open(&p->packet, PACKET_CLOCK_SNAPSHOT);
	put_clock(&p->packet, CLOCK_BOOTTIME_ID, ns, false);
	put_clock(&p->packet, CLOCK_REALTIME_ID, realtime, false);
	proto_close(&p->packet, snapshot);
	write_packet(p);
}

/* Sets the track and the time of an event. The first one of an epoch starts the track's sequence. */
static inline void set_time(struct picture *p, uint32_t number, uint64_t ns)
{
	struct track *track = p->tracks[number];

	if (track->started != p->epoch) {
		describe(p, number);
		start_sequence(p, number, ns);
	}
	p->track = track;
	p->is_absolute = ns < track->ns;
	p->ticks = p->is_absolute ? ns : ns - track->ns;
	track->ns += p->is_absolute ? 0 : p->ticks;
}

static inline void start_event(struct picture *p, unsigned type)
{
	p->interned.len = 0;
	/* packets_start() has made room */
	p->event.len = proto_put(p->event.buf, EVENT_TYPE, type) - p->event.buf;
}

static inline char *put_bytes(char *to, const char *from, size_t n)
{
	if (n > SHORT)
		return mempcpy(to, from, n);
	memcpy(to, from, SHORT);
	return to + n;
}

static inline char *put_time(const struct picture *p, char *to)
{
	to = proto_put(to, PACKET_TIMESTAMP, p->ticks);
	return p->is_absolute ? proto_put(to, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_BOOTTIME_ID) : to;
}

/* Writes a packet with an event of n bytes, at most 8. The first one is in the lowest bits. */
static inline void write_short(struct picture *p, uint64_t event, unsigned n)
{
	char *start = out_room(p->out, SHORT_PACKET), *to = start + 2; /* its key and length */

	to = put_time(p, put_bytes(to, p->track->head, p->track->head_n));
	to = proto_put_length(to, PACKET_TRACK_EVENT, n);
	memcpy(to, &event, sizeof(event));
	to += n;
	proto_put_length(start, TRACE_PACKET, to - start - 2);
	p->written += to - start;
	out_commit(p->out, to);
}

/* Writes a packet with the event and these notes; without any, their p may be NULL. */
static void write_event(struct picture *p, struct slice notes)
{
	const struct track *track = p->track;
	char time[SHORT], *to;
	size_t time_n = put_time(p, time) - time, event = p->event.len + notes.n, n;

	n = track->head_n + time_n + proto_size_bytes(PACKET_TRACK_EVENT, event);
	if (p->interned.len)
		n += proto_size_bytes(PACKET_INTERNED_DATA, p->interned.len);
	p->written += n;
	to = proto_put_length(out_room(p->out, n + PROTO_LENGTH + SHORT), TRACE_PACKET, n);
	to = put_bytes(to, track->head, track->head_n);
	memcpy(to, time, sizeof(time));
	to += time_n;
	to = put_bytes(proto_put_length(to, PACKET_TRACK_EVENT, event), p->event.buf, p->event.len);
	if (notes.n)
		to = mempcpy(to, notes.p, notes.n);
	if (p->interned.len) {
		to = proto_put_length(to, PACKET_INTERNED_DATA, p->interned.len);
		to = mempcpy(to, p->interned.buf, p->interned.len);
	}
	out_commit(p->out, to);
}

/* For write_short(): keys of fields, and the largest value that takes one byte. */
enum {
	TYPE_KEY = EVENT_TYPE << 3 | WIRE_VARINT,
	NAME_KEY = EVENT_NAME_IID << 3 | WIRE_VARINT,
	BYTE = 0x7f,
};

/* Ends the innermost slice: an event without anything else. */
static void end_slice(struct picture *p, uint32_t track, uint64_t ns)
{
	set_time(p, track, ns);
	write_short(p, TYPE_KEY | TYPE_SLICE_END << 8, 2);
}

static inline bool is_defined(const struct picture *p, unsigned use)
{
	return p->track->seen[use / 64] >> use % 64 & 1;
}

/* Defines a number in the track's sequence. Names of states are the kind after those of notes. */
static void add_definition(struct picture *p, unsigned use)
{
	static const unsigned fields[] = {
		[NOTES_NAMES] = INTERNED_ANNOTATION_NAMES,
		[NOTES_STRINGS] = INTERNED_ANNOTATION_STRINGS,
		[NOTES_KINDS] = INTERNED_EVENT_NAMES,
	};
	unsigned kind = use / NOTES_MAX, number = use % NOTES_MAX;
	size_t start;

	p->track->seen[use / 64] |= 1ULL << use % 64;
	start = proto_open(&p->interned, fields[kind]);
	proto_uint(&p->interned, INTERNED_IID, number + 1);
	proto_string(&p->interned, INTERNED_TEXT,
		     (kind == NOTES_KINDS ? p->states : &p->notes.known[kind])->all[number]);
	proto_close(&p->interned, start);
}

static inline void define(struct picture *p, unsigned use)
{
	if (!is_defined(p, use))
		add_definition(p, use);
}

static void put_values(struct picture *p, const struct picture_values *values)
{
	/* a sequence that started before picture_expect() names them in each event */
	for (unsigned i = 0; i < PICTURE_COUNTERS && !p->track->has_counters; i++) {
		describe(p, values->counters[i]);
		proto_uint(&p->event, EVENT_EXTRA_COUNTERS, uuid_of(values->counters[i]));
	}
	for (unsigned i = 0; i < PICTURE_COUNTERS; i++)
		proto_uint(&p->event, EVENT_EXTRA_VALUES, values->values[i]);
}

void picture_begin(struct picture *p, uint32_t track, uint64_t begin, uint64_t end, struct slice name,
		   const struct picture_values *values)
{
	(void)end;
	set_time(p, track, begin);
	start_event(p, TYPE_SLICE_BEGIN);
	proto_string(&p->event, EVENT_NAME, name);
	if (values)
		put_values(p, values);
}

void picture_arrow(struct picture *p, uint64_t number, bool to_here, bool later)
{
	/* of two events at the same time, either may be read first: then the flow stays open */
	proto_fixed64(&p->event, to_here && later ? EVENT_TERMINATING_FLOW_IDS : EVENT_FLOW_IDS, number);
}

void picture_close(struct picture *p, const struct notes *notes)
{
	for (unsigned kind = 0; kind < NOTES_KINDS; kind++) {
		uint64_t *seen = &p->track->seen[kind * NOTES_MAX / 64];

		while (notes->bits[kind] & ~*seen)
			add_definition(p, kind * NOTES_MAX + __builtin_ctzll(notes->bits[kind] & ~*seen));
	}
	for (size_t i = 0; i < notes->n; i++)
		define(p, notes->uses[i]);
	write_event(p, out_contents(&notes->bytes));
}

void picture_end(struct picture *p, uint32_t track, uint64_t end, const struct picture_values *values)
{
	/* a slice without an end is still open */
	if (end == PICTURE_NO_END)
		return;
	if (!values) {
		end_slice(p, track, end);
		return;
	}
	set_time(p, track, end);
	start_event(p, TYPE_SLICE_END);
	put_values(p, values);
	write_event(p, (struct slice){});
}

/* An event whose name is that of a state. */
static void write_named(struct picture *p, uint32_t track, uint64_t ns, unsigned type, uint32_t state, uint64_t arrow,
			const struct notes *notes)
{
	set_time(p, track, ns);
	if (!notes->bytes.len && !arrow && state < BYTE && is_defined(p, NOTES_KINDS * NOTES_MAX + state)) {
		write_short(p, TYPE_KEY | type << 8 | NAME_KEY << 16 | (state + 1) << 24, 4);
		return;
	}
	start_event(p, type);
	if (state >= PACKETS_NAMES) {
		proto_string(&p->event, EVENT_NAME, p->states->all[state]);
	} else {
		define(p, NOTES_KINDS * NOTES_MAX + state);
		proto_uint(&p->event, EVENT_NAME_IID, state + 1);
	}
	if (arrow)
		picture_arrow(p, arrow, true, false);
	picture_close(p, notes);
}

void picture_state(struct picture *p, uint32_t track, uint64_t begin, uint64_t end, uint32_t state,
		   const struct notes *notes)
{
	write_named(p, track, begin, TYPE_SLICE_BEGIN, state, 0, notes);
	if (end != PICTURE_NO_END)
		end_slice(p, track, end);
}

void picture_instant(struct picture *p, uint32_t track, uint64_t ns, uint32_t state, uint64_t arrow,
		     const struct notes *notes)
{
	write_named(p, track, ns, TYPE_INSTANT, state, arrow, notes);
}

void picture_count(struct picture *p, uint32_t counter, uint64_t ns, uint64_t value)
{
	set_time(p, counter, ns);
	start_event(p, TYPE_COUNTER);
	proto_uint(&p->event, EVENT_COUNTER_VALUE, value);
	write_event(p, (struct slice){});
}

void picture_expect(struct picture *p, uint32_t track, const uint32_t counters[PICTURE_COUNTERS])
{
	memcpy(p->tracks[track]->counters, counters, sizeof(p->tracks[track]->counters));
}

void packets_free(struct picture *p)
{
	for (uint32_t i = 0; i < p->num_tracks; i++) {
		free(p->tracks[i]->name);
		free(p->tracks[i]);
	}
	free(p->tracks);
	annotations_free(&p->notes);
	out_close(&p->packet);
	out_close(&p->event);
	out_close(&p->interned);
}
