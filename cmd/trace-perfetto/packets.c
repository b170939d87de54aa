/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "proto.h"
#include "utf8.h"
#include "wall.h"

/* UUIDs of tracks count up from here. Another trace that is opened along with this one is unlikely to use them. */
#define UUID_BASE (0x7370646bULL << 32)

/* Short texts are copied with this constant size: buffers have room for it. */
enum { SHORT = 16 };

/* Bytes of a track's name, which is written again in each epoch: more than any that SPDK has. */
enum { TRACK_NAME_MAX = 1024 };

/* Room for a packet with a short event. */
enum { SHORT_PACKET = 64 };

/* Starts a packet of a track's sequence. */
static void start_packet(struct packets *p, uint32_t track)
{
	p->packet.len = 0;
	proto_uint(&p->packet, PACKET_SEQUENCE_ID, (uint64_t)track + 1);
}

uint32_t packets_add_track(struct packets *p, uint32_t parent, uint32_t rank, struct slice name)
{
	struct packets_track *track = mem_array(1, sizeof(*track));
	struct slice plain = json_decode(name);

	*track = (struct packets_track){
		.name = mem_slice(utf8_piece(plain, TRACK_NAME_MAX)), .parent = parent, .rank = rank};
	free((char *)plain.p);
	start_packet(p, p->num_tracks);
	proto_uint(&p->packet, PACKET_SEQUENCE_FLAGS, SEQ_NEEDS_INCREMENTAL_STATE);
	track->head_n = p->packet.len;
	memcpy(track->head, p->packet.buf, track->head_n);
	p->tracks = mem_room(p->tracks, p->num_tracks, &p->cap_tracks);
	p->tracks[p->num_tracks] = track;
	return p->num_tracks++;
}

uint32_t packets_add_counter(struct packets *p, uint32_t parent, struct slice name)
{
	uint32_t number = packets_add_track(p, parent, 0, name);

	p->tracks[number]->is_counter = true;
	return number;
}

static uint64_t uuid_of(uint32_t track)
{
	return UUID_BASE + track + 1;
}

static void write_packet(struct packets *p)
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

static void describe(struct packets *p, uint32_t number)
{
	struct packets_track *track = p->tracks[number];
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
	proto_text(out, TRACK_NAME, track->name);
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
static void start_sequence(struct packets *p, uint32_t number, uint64_t ns)
{
	struct packets_track *track = p->tracks[number];
	struct out *out = &p->packet;
	size_t message, inner;

	/* the clock of a sequence must not go back */
	track->ns = ns > track->ns ? ns : track->ns;
	track->started = p->epoch;
	memset(track->seen, 0, sizeof(track->seen));
	start_packet(p, number);
	proto_uint(out, PACKET_SEQUENCE_FLAGS, SEQ_INCREMENTAL_STATE_CLEARED);
	message = proto_open(out, PACKET_DEFAULTS);
	proto_uint(out, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_SEQUENCE_ID);
	inner = proto_open(out, DEFAULTS_TRACK_EVENT);
	proto_uint(out, EVENT_DEFAULTS_TRACK_UUID, uuid_of(number));
	proto_close(out, inner);
	proto_close(out, message);
	message = proto_open(out, PACKET_CLOCK_SNAPSHOT);
	put_clock(out, CLOCK_SEQUENCE_ID, track->ns, true);
	put_clock(out, CLOCK_BOOTTIME_ID, track->ns, false);
	proto_close(out, message);
	write_packet(p);
}

/* Writes a snapshot of the time of day. ns: trace time; realtime: time of day, as in wall.h. */
static void write_clock(struct packets *p, uint64_t ns, uint64_t realtime)
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

/* Starts a new epoch if one is due, and writes the time of day once in each. */
void packets_line(struct packets *p, const struct traceline *line, uint64_t ns)
{
	uint64_t realtime;

	if (p->written >= PACKETS_EPOCH_BYTES || (ns >= p->epoch_ns && ns - p->epoch_ns >= PACKETS_EPOCH_NS)) {
		p->epoch++;
		p->epoch_ns = ns;
		p->written = 0;
	}
	if (line->time.p && p->clock_epoch != p->epoch && wall_read(line->time, &realtime))
		write_clock(p, ns, realtime);
}

/* Sets the track and the time of an event. The first one of an epoch starts the track's sequence. */
static inline void set_time(struct packets *p, uint32_t number, uint64_t ns)
{
	struct packets_track *track = p->tracks[number];

	if (track->started != p->epoch) {
		describe(p, number);
		start_sequence(p, number, ns);
	}
	p->track = track;
	p->is_absolute = ns < track->ns;
	p->ticks = p->is_absolute ? ns : ns - track->ns;
	track->ns += p->is_absolute ? 0 : p->ticks;
}

static inline void start_event(struct packets *p, unsigned type)
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

static inline char *put_time(const struct packets *p, char *to)
{
	to = proto_put(to, PACKET_TIMESTAMP, p->ticks);
	return p->is_absolute ? proto_put(to, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_BOOTTIME_ID) : to;
}

/* Writes a packet with an event of n bytes, at most 8. The first one is in the lowest bits. */
static inline void write_short(struct packets *p, uint64_t event, unsigned n)
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

/* Writes a packet with the event and these annotations; without any, their p may be NULL. */
static void write_event(struct packets *p, struct slice annotations)
{
	const struct packets_track *track = p->track;
	char time[SHORT], *to;
	size_t time_n = put_time(p, time) - time, event = p->event.len + annotations.n, n;

	n = track->head_n + time_n + proto_size_bytes(PACKET_TRACK_EVENT, event);
	if (p->interned.len)
		n += proto_size_bytes(PACKET_INTERNED_DATA, p->interned.len);
	p->written += n;
	to = proto_put_length(out_room(p->out, n + PROTO_LENGTH + SHORT), TRACE_PACKET, n);
	to = put_bytes(to, track->head, track->head_n);
	memcpy(to, time, sizeof(time));
	to += time_n;
	to = put_bytes(proto_put_length(to, PACKET_TRACK_EVENT, event), p->event.buf, p->event.len);
	if (annotations.n)
		to = mempcpy(to, annotations.p, annotations.n);
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

static inline bool is_defined(const struct packets *p, unsigned use)
{
	return p->track->seen[use / 64] >> use % 64 & 1;
}

/* Defines a number in the track's sequence. Names of states are the kind after those of annotations. */
static void add_definition(struct packets *p, unsigned use)
{
	static const unsigned fields[] = {
		[ANNOTATIONS_NAMES] = INTERNED_ANNOTATION_NAMES,
		[ANNOTATIONS_STRINGS] = INTERNED_ANNOTATION_STRINGS,
		[ANNOTATIONS_KINDS] = INTERNED_EVENT_NAMES,
	};
	unsigned kind = use / ANNOTATIONS_MAX, number = use % ANNOTATIONS_MAX;
	size_t start;

	p->track->seen[use / 64] |= 1ULL << use % 64;
	start = proto_open(&p->interned, fields[kind]);
	proto_uint(&p->interned, INTERNED_IID, number + 1);
	proto_string(&p->interned, INTERNED_TEXT,
		     (kind == ANNOTATIONS_KINDS ? p->states : &p->annotations.known[kind])->all[number]);
	proto_close(&p->interned, start);
}

static inline void define(struct packets *p, unsigned use)
{
	if (!is_defined(p, use))
		add_definition(p, use);
}

void packets_begin(struct packets *p, uint32_t track, uint64_t begin, struct slice name)
{
	set_time(p, track, begin);
	start_event(p, TYPE_SLICE_BEGIN);
	proto_string(&p->event, EVENT_NAME, name);
}

void packets_arrow(struct packets *p, uint64_t number, bool to_here, bool later)
{
	/* of two events at the same time, either may be read first: then the flow stays open */
	proto_fixed64(&p->event, to_here && later ? EVENT_TERMINATING_FLOW_IDS : EVENT_FLOW_IDS, number);
}

void packets_annotate(struct packets *p)
{
	const struct annotations *a = &p->annotations;

	for (unsigned kind = 0; kind < ANNOTATIONS_KINDS; kind++) {
		uint64_t *seen = &p->track->seen[kind * ANNOTATIONS_MAX / 64];

		while (a->bits[kind] & ~*seen)
			add_definition(p, kind * ANNOTATIONS_MAX + __builtin_ctzll(a->bits[kind] & ~*seen));
	}
	for (size_t i = 0; i < a->n; i++)
		define(p, a->uses[i]);
	write_event(p, out_contents(&a->bytes));
}

void packets_end(struct packets *p, uint32_t track, uint64_t end)
{
	/* a slice without an end is still open */
	if (end == PACKETS_NO_END)
		return;
	set_time(p, track, end);
	write_short(p, TYPE_KEY | TYPE_SLICE_END << 8, 2);
}

/* An event whose name is that of a state. */
static void write_named(struct packets *p, uint32_t track, uint64_t ns, unsigned type, uint32_t state, uint64_t arrow)
{
	set_time(p, track, ns);
	if (!p->annotations.bytes.len && !arrow && state < BYTE &&
	    is_defined(p, ANNOTATIONS_KINDS * ANNOTATIONS_MAX + state)) {
		write_short(p, TYPE_KEY | type << 8 | NAME_KEY << 16 | (state + 1) << 24, 4);
		return;
	}
	start_event(p, type);
	if (state >= PACKETS_NAMES) {
		proto_string(&p->event, EVENT_NAME, p->states->all[state]);
	} else {
		define(p, ANNOTATIONS_KINDS * ANNOTATIONS_MAX + state);
		proto_uint(&p->event, EVENT_NAME_IID, state + 1);
	}
	if (arrow)
		packets_arrow(p, arrow, true, false);
	packets_annotate(p);
}

void packets_state(struct packets *p, uint32_t track, uint64_t begin, uint64_t end, uint32_t state)
{
	write_named(p, track, begin, TYPE_SLICE_BEGIN, state, 0);
	packets_end(p, track, end);
}

void packets_instant(struct packets *p, uint32_t track, uint64_t ns, uint32_t state, uint64_t arrow)
{
	write_named(p, track, ns, TYPE_INSTANT, state, arrow);
}

void packets_count(struct packets *p, uint32_t counter, uint64_t ns, uint64_t value)
{
	set_time(p, counter, ns);
	start_event(p, TYPE_COUNTER);
	proto_uint(&p->event, EVENT_COUNTER_VALUE, value);
	write_event(p, (struct slice){});
}

void packets_start(struct packets *p, struct out *out, const struct intern *states)
{
	annotations_start(&p->annotations);
	p->out = out;
	p->states = states;
	p->packet.fd = p->event.fd = p->interned.fd = OUT_MEMORY;
	p->epoch = 1;
	out_room(&p->event, SHORT);
}

void packets_free(struct packets *p)
{
	for (uint32_t i = 0; i < p->num_tracks; i++) {
		free((char *)p->tracks[i]->name.p);
		free(p->tracks[i]);
	}
	free(p->tracks);
	annotations_free(&p->annotations);
	out_close(&p->packet);
	out_close(&p->event);
	out_close(&p->interned);
}
