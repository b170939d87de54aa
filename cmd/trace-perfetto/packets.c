/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "number.h"
#include "proto.h"

/* Numbers of tracks count up from here: unlikely to be those of another trace that is opened along with it. */
#define UUID_BASE (0x7370646bULL << 32)

enum {
	LONG_NAME = 255, /* a longer one is not interned */
	LEVELS = 2,      /* of objects in a note: the arguments, and what trace-join makes of one */
};

static const char *const note_names[NOTES] = {
	[NOTE_ID] = "id",         [NOTE_VALUE] = "value", [NOTE_TSC] = "tsc",   [NOTE_RELATED] = "related",
	[NOTE_POLLER] = "poller", [NOTE_OWNER] = "owner", [NOTE_SIZE] = "size", [NOTE_LCORE] = "lcore",
	[NOTE_OPEN] = "open",     [NOTE_CUT] = "cut",     [NOTE_TORN] = "torn", [NOTE_IO] = "io",
	[NOTE_ARGS] = "args",
};

void packets_start(struct packets *p)
{
	p->packet.fd = p->interned.fd = OUT_MEMORY;
	p->epoch = 1;
	for (unsigned i = 0; i < NOTES; i++)
		intern_add(&p->notes, slice_of(note_names[i]));
}

uint32_t packets_add_track(struct packets *p, uint32_t parent, uint32_t rank, struct slice name, bool is_counter)
{
	struct track *track = mem_array(1, sizeof(*track));

	*track = (struct track){.name = mem_copy(name), .parent = parent, .rank = rank, .is_counter = is_counter};
	p->tracks = mem_room(p->tracks, p->num_tracks, &p->cap_tracks);
	p->tracks[p->num_tracks] = track;
	return p->num_tracks++;
}

void packets_pass(struct packets *p, uint64_t ns)
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

static void write_packet(struct packets *p)
{
	p->written += p->packet.len;
	proto_bytes(p->out, TRACE_PACKET, out_kept(&p->packet));
}

/* Starts a packet of a track's sequence. */
static void start_packet(struct packets *p, uint32_t track)
{
	p->packet.len = 0;
	proto_uint(&p->packet, PACKET_SEQUENCE_ID, (uint64_t)track + 1);
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

/* Starts a track's sequence, again: with a clock that counts from now on, and the track of its events. */
static void start_sequence(struct packets *p, uint32_t number, uint64_t ns)
{
	struct track *track = p->tracks[number];
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

bool packets_wants_clock(const struct packets *p)
{
	return p->clock_epoch != p->epoch;
}

void packets_clock(struct packets *p, uint64_t ns, uint64_t realtime)
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

void packets_open(struct packets *p, uint32_t number, uint64_t ns, unsigned type)
{
	struct track *track = p->tracks[number];
	struct out *out = &p->packet;

	if (track->started != p->epoch) {
		describe(p, number);
		start_sequence(p, number, ns);
	}
	p->track = track;
	p->interned.len = 0;
	start_packet(p, number);
	proto_uint(out, PACKET_SEQUENCE_FLAGS, SEQ_NEEDS_INCREMENTAL_STATE);
	if (ns < track->ns) {
		proto_uint(out, PACKET_TIMESTAMP, ns);
		proto_uint(out, PACKET_TIMESTAMP_CLOCK_ID, CLOCK_BOOTTIME_ID);
	} else {
		proto_uint(out, PACKET_TIMESTAMP, ns - track->ns);
		track->ns = ns;
	}
	p->event = proto_open(out, PACKET_TRACK_EVENT);
	proto_uint(out, EVENT_TYPE, type);
}

void packets_close(struct packets *p)
{
	proto_close(&p->packet, p->event);
	if (p->interned.len)
		proto_bytes(&p->packet, PACKET_INTERNED_DATA, out_kept(&p->interned));
	write_packet(p);
}

void packets_end(struct packets *p, uint32_t track, uint64_t ns)
{
	packets_open(p, track, ns, TYPE_SLICE_END);
	packets_close(p);
}

void packets_count(struct packets *p, uint32_t track, uint64_t ns, uint64_t value)
{
	packets_open(p, track, ns, TYPE_COUNTER);
	proto_uint(&p->packet, EVENT_COUNTER_VALUE, value);
	packets_close(p);
}

/* Returns the number of an interned name, or 0. The packet defines a name that its sequence has not used so far. */
static uint32_t intern(struct packets *p, enum packets_kind kind, const struct intern *names, uint32_t name)
{
	static const unsigned fields[PACKETS_KINDS] = {
		[PACKETS_EVENT_NAMES] = INTERNED_EVENT_NAMES,
		[PACKETS_NOTE_NAMES] = INTERNED_ANNOTATION_NAMES,
		[PACKETS_STRINGS] = INTERNED_ANNOTATION_STRINGS,
	};
	uint64_t *seen, bit = 1ULL << name % 64;
	size_t start;

	if (name >= PACKETS_NAMES)
		return 0;
	seen = &p->track->seen[kind][name / 64];
	if (!(*seen & bit)) {
		*seen |= bit;
		start = proto_open(&p->interned, fields[kind]);
		proto_uint(&p->interned, INTERNED_IID, name + 1);
		proto_string(&p->interned, INTERNED_TEXT, names->all[name]);
		proto_close(&p->interned, start);
	}
	return name + 1;
}

void packets_name(struct packets *p, uint32_t event)
{
	uint32_t iid = intern(p, PACKETS_EVENT_NAMES, p->events, event);

	if (iid)
		proto_uint(&p->packet, EVENT_NAME_IID, iid);
	else
		proto_string(&p->packet, EVENT_NAME, p->events->all[event]);
}

void packets_name_text(struct packets *p, struct slice name)
{
	proto_string(&p->packet, EVENT_NAME, name);
}

void packets_flow(struct packets *p, uint64_t flow, bool last)
{
	proto_fixed64(&p->packet, last ? EVENT_TERMINATING_FLOW_IDS : EVENT_FLOW_IDS, flow);
}

/* Starts an annotation: of the event, or of another annotation. */
static size_t open_note(struct packets *p, unsigned field, uint32_t name)
{
	size_t start = proto_open(&p->packet, field);

	proto_uint(&p->packet, ANNOTATION_NAME_IID, intern(p, PACKETS_NOTE_NAMES, &p->notes, name));
	return start;
}

/* The number of a text among those that are interned; MAP_NONE: it is not. */
static uint32_t known(struct intern *names, struct slice text)
{
	return text.n > LONG_NAME ? MAP_NONE : intern_add_below(names, text, PACKETS_NAMES);
}

static void put_string(struct packets *p, struct slice text)
{
	uint32_t iid = intern(p, PACKETS_STRINGS, &p->strings, known(&p->strings, text));

	if (iid)
		proto_uint(&p->packet, ANNOTATION_STRING_IID, iid);
	else
		proto_string(&p->packet, ANNOTATION_STRING, text);
}

void packets_note_flag(struct packets *p, enum packets_note name)
{
	size_t start = open_note(p, EVENT_DEBUG_ANNOTATIONS, name);

	proto_uint(&p->packet, ANNOTATION_BOOL, true);
	proto_close(&p->packet, start);
}

void packets_note_uint(struct packets *p, enum packets_note name, uint64_t value)
{
	size_t start = open_note(p, EVENT_DEBUG_ANNOTATIONS, name);

	proto_uint(&p->packet, ANNOTATION_UINT, value);
	proto_close(&p->packet, start);
}

void packets_note_pointer(struct packets *p, enum packets_note name, uint64_t value)
{
	size_t start = open_note(p, EVENT_DEBUG_ANNOTATIONS, name);

	proto_uint(&p->packet, ANNOTATION_POINTER, value);
	proto_close(&p->packet, start);
}

void packets_note_text(struct packets *p, enum packets_note name, struct slice text, bool once)
{
	size_t start;

	if (!text.p)
		return;
	start = open_note(p, EVENT_DEBUG_ANNOTATIONS, name);
	if (once)
		proto_string(&p->packet, ANNOTATION_STRING, text);
	else
		put_string(p, text);
	proto_close(&p->packet, start);
}

static void put_number(struct packets *p, struct slice value)
{
	uint64_t number;
	double real;

	if (number_decimal(value, &number)) {
		proto_uint(&p->packet, ANNOTATION_UINT, number);
		return;
	}
	/* whatever follows a number in JSON ends it for strtod() as well */
	real = strtod(value.p, NULL);
	memcpy(&number, &real, sizeof(number));
	proto_fixed64(&p->packet, ANNOTATION_DOUBLE, number);
}

static void put_scalar(struct packets *p, struct slice value)
{
	uint64_t number;

	if (value.p[0] == '-' || (value.p[0] >= '0' && value.p[0] <= '9'))
		put_number(p, value);
	else if (value.p[0] == '"' && traceline_number(value, &number))
		proto_uint(&p->packet, ANNOTATION_POINTER, number);
	else if (value.p[0] == '"')
		put_string(p, slice_between(value.p + 1, value.p + value.n - 1));
	else if (value.p[0] == 't' || value.p[0] == 'f')
		proto_uint(&p->packet, ANNOTATION_BOOL, value.p[0] == 't');
	else
		proto_bytes(&p->packet, ANNOTATION_STRING, value);
}

static void put_value(struct packets *p, struct slice value, unsigned levels);

static void put_note(struct packets *p, unsigned field, struct slice name, struct slice value, unsigned levels)
{
	size_t start = proto_open(&p->packet, field);
	uint32_t iid = intern(p, PACKETS_NOTE_NAMES, &p->notes, known(&p->notes, name));

	if (iid)
		proto_uint(&p->packet, ANNOTATION_NAME_IID, iid);
	else
		proto_string(&p->packet, ANNOTATION_NAME, name);
	put_value(p, value, levels);
	proto_close(&p->packet, start);
}

static void put_members(struct packets *p, unsigned field, struct slice object, unsigned levels)
{
	struct slice name, value;
	struct json j;

	json_init(&j, object.p, object.n);
	for (json_object(&j); json_key(&j, &name) && json_value(&j, &value);)
		put_note(p, field, name, value, levels);
}

static void put_value(struct packets *p, struct slice value, unsigned levels)
{
	if (value.p[0] == '{' && levels)
		put_members(p, ANNOTATION_DICT_ENTRIES, value, levels - 1);
	else if (value.p[0] == '{' || value.p[0] == '[')
		proto_text(&p->packet, ANNOTATION_STRING, value);
	else
		put_scalar(p, value);
}

void packets_note_value(struct packets *p, enum packets_note name, struct slice value)
{
	size_t start = open_note(p, EVENT_DEBUG_ANNOTATIONS, name);

	put_value(p, value, LEVELS);
	proto_close(&p->packet, start);
}

void packets_note_members(struct packets *p, struct slice object)
{
	if (object.n)
		put_members(p, EVENT_DEBUG_ANNOTATIONS, object, LEVELS);
}

void packets_free(struct packets *p)
{
	for (uint32_t i = 0; i < p->num_tracks; i++) {
		free(p->tracks[i]->name);
		free(p->tracks[i]);
	}
	free(p->tracks);
	intern_free(&p->notes);
	intern_free(&p->strings);
	out_close(&p->packet);
	out_close(&p->interned);
}
