/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Perfetto's trace format: the wire format of Protocol Buffers, and the fields that are written.
 *
 * The messages are in protos/perfetto/trace of github.com/google/perfetto, in the files that are
 * named here. A reader skips fields that it does not know, so numbers never change.
 */
#pragma once

#include <stdint.h>

#include "out.h"

/* trace.proto: Trace */
enum { TRACE_PACKET = 1 };

/* trace_packet.proto: TracePacket */
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10, /* trusted_packet_sequence_id */
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59, /* trace_packet_defaults */
	PACKET_TRACK_DESCRIPTOR = 60,
};

/* SequenceFlags */
enum { SEQ_INCREMENTAL_STATE_CLEARED = 1, SEQ_NEEDS_INCREMENTAL_STATE = 2 };

/* trace_packet_defaults.proto: TracePacketDefaults; track_event/track_event.proto: TrackEventDefaults */
enum { DEFAULTS_TRACK_EVENT = 11, DEFAULTS_TIMESTAMP_CLOCK_ID = 58 };
enum { EVENT_DEFAULTS_TRACK_UUID = 11 };

/* clock_snapshot.proto: ClockSnapshot, Clock */
enum { SNAPSHOT_CLOCKS = 1 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_IS_INCREMENTAL = 3 };

/* common/builtin_clock.proto: BuiltinClock; from 64 on a clock belongs to the sequence of its packet */
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6, CLOCK_SEQUENCE_ID = 64 };

/* track_event/track_descriptor.proto: TrackDescriptor, ChildTracksOrdering */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT_UUID = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDERING = 11,
	TRACK_SIBLING_ORDER_RANK = 12,
};
enum { ORDERING_EXPLICIT = 3 };

/* track_event/counter_descriptor.proto: CounterDescriptor, Unit */
enum { COUNTER_UNIT = 3 };
enum { UNIT_COUNT = 2 };

/* track_event/track_event.proto: TrackEvent, Type */
enum {
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
};
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* track_event/debug_annotation.proto: DebugAnnotation */
enum {
	DEBUG_NAME_IID = 1,
	DEBUG_BOOL = 2,
	DEBUG_UINT = 3,
	DEBUG_DOUBLE = 5,
	DEBUG_STRING = 6,
	DEBUG_POINTER = 7,
	DEBUG_NAME = 10,
	DEBUG_DICT_ENTRIES = 11,
	DEBUG_STRING_IID = 17,
};

/* interned_data/interned_data.proto: InternedData; its entries have the same two fields in all three */
enum { INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3, INTERNED_ANNOTATION_STRINGS = 29 };
enum { INTERNED_IID = 1, INTERNED_TEXT = 2 };

/* Wire types. */
enum { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_LEN = 2 };

/* Bytes that a number takes. */
static inline size_t proto_varint_size(uint64_t value)
{
	return (70 - __builtin_clzll(value | 1)) / 7;
}

/* These return the end of what they write. */
static inline char *proto_put_varint(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

/* Nearly all arguments are constants, so the compiler leaves only the bytes. */
static inline char *proto_put_key(char *to, unsigned field, unsigned wire_type)
{
	unsigned key = field << 3 | wire_type;

	*to++ = (char)(key < 0x80 ? key : key | 0x80);
	if (key >= 0x80)
		*to++ = (char)(key >> 7);
	return to;
}

static inline char *proto_put(char *to, unsigned field, uint64_t value)
{
	return proto_put_varint(proto_put_key(to, field, WIRE_VARINT), value);
}

/* Key and length of a field of n bytes. */
static inline char *proto_put_length(char *to, unsigned field, size_t n)
{
	return proto_put_varint(proto_put_key(to, field, WIRE_LEN), n);
}

/* It writes no more bytes than this. */
enum { PROTO_LENGTH = 20 };

/* Bytes of a whole field. */
static inline size_t proto_size(unsigned field, uint64_t value)
{
	return proto_varint_size(field << 3) + proto_varint_size(value);
}

static inline size_t proto_size_bytes(unsigned field, size_t n)
{
	return proto_size(field, n) + n;
}

static inline void proto_varint(struct out *out, uint64_t value)
{
	out_commit(out, proto_put_varint(out_room(out, 10), value));
}

static inline void proto_key(struct out *out, unsigned field, unsigned wire_type)
{
	out_commit(out, proto_put_key(out_room(out, 2), field, wire_type));
}

static inline void proto_uint(struct out *out, unsigned field, uint64_t value)
{
	out_commit(out, proto_put(out_room(out, 20), field, value));
}

static inline void proto_fixed64(struct out *out, unsigned field, uint64_t value)
{
	proto_key(out, field, WIRE_I64);
	out_bytes(out, &value, sizeof(value));
}

static inline void proto_bytes(struct out *out, unsigned field, struct slice bytes)
{
	proto_key(out, field, WIRE_LEN);
	proto_varint(out, bytes.n);
	out_slice(out, bytes);
}

/* A string; what is not valid UTF-8 becomes U+FFFD. */
void proto_text(struct out *out, unsigned field, struct slice text);

/* The same for a string as written in JSON between quotes. */
void proto_string(struct out *out, unsigned field, struct slice raw);

/*
 * What is written between these is a message, the value of the field. out is in memory; start is
 * what proto_open() returned.
 */
static inline size_t proto_open(struct out *out, unsigned field)
{
	proto_key(out, field, WIRE_LEN);
	/* for the length: most messages are shorter than 128 bytes */
	out_char(out, 0);
	return out->len;
}

/* The same for a length of several bytes. */
void proto_close_long(struct out *out, size_t start);

static inline void proto_close(struct out *out, size_t start)
{
	if (out->len - start < 0x80)
		out->buf[start - 1] = (char)(out->len - start);
	else
		proto_close_long(out, start);
}
