/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a Perfetto trace from standard input. This is the tests' own reader of the format: it shares no code with
 * trace-perfetto, and fails if a field is unknown. With a number, it skips that many packets first, as if the start
 * of the stream was lost. Prints JSON lines:
 *
 *	{"track":[NAME,...],"row":N,"name":NAME,"ts":NS,"dur":NS,"args":{...},"flows":[ID,...],"ends":[ID,...],
 *	 "slices":[...]}
 *	{"track":[NAME,...],"ts":NS,"value":N}      a value of a counter
 *	{"clocks":[[ID,NS],[ID,NS]]}                a snapshot of clocks other than a sequence's own
 *	{"packets":N,"skipped":N}                   at the end; skipped: events of sequences whose start was lost
 *
 * An instant has "instant":true instead of "dur"; an open slice has neither. "slices" are nested in the slice.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mem.h"
#include "utf8.h"

/* A field of a message. */
struct field {
	unsigned number, wire;
	uint64_t value;
	struct slice bytes;
};

static uint64_t varint(struct slice *s)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned char byte;

		if (!s->n || shift > 63)
			errx(1, "a number is cut off or too long");
		byte = *slice_cut(s, 1).p;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
}

static bool next_field(struct slice *message, struct field *f)
{
	uint64_t key;

	if (!message->n)
		return false;
	key = varint(message);
	*f = (struct field){.number = key >> 3, .wire = key & 7};
	if (f->wire == 2 || f->wire == 1) {
		uint64_t n = f->wire == 1 ? 8 : varint(message);

		if (n > message->n)
			errx(1, "field %u is longer than its message", f->number);
		f->bytes = slice_cut(message, n);
		if (f->wire == 1)
			memcpy(&f->value, f->bytes.p, 8);
	} else if (f->wire == 0) {
		f->value = varint(message);
	} else {
		errx(1, "field %u is of an unknown kind", f->number);
	}
	return true;
}

static _Noreturn void unknown(const char *message, const struct field *f)
{
	errx(1, "%s has an unknown field %u of kind %u", message, f->number, f->wire);
}

/* A growing text for a test to compare, with a NUL. */
struct text {
	char *p;
	size_t n, cap;
};

static void add(struct text *t, const char *p, size_t n)
{
	if (t->n + n + 1 > t->cap) {
		t->cap = 2 * (t->n + n + 1);
		t->p = mem_resize(t->p, t->cap, 1);
	}
	memcpy(t->p + t->n, p, n);
	t->n += n;
	t->p[t->n] = 0;
}

static void add_text(struct text *t, const char *text)
{
	add(t, text, strlen(text));
}

static void add_number(struct text *t, const char *before, uint64_t value)
{
	char number[64];

	add(t, number, snprintf(number, sizeof(number), "%s%" PRIu64, before, value));
}

static void add_string(struct text *t, struct slice s)
{
	char *quoted = mem_array(JSON_QUOTED(s.n), 1);

	for (struct slice rest = s; rest.n;) {
		int length = utf8_length(rest);

		if (length < 0)
			errx(1, "a string is not valid UTF-8");
		slice_cut(&rest, length);
	}
	add(t, quoted, json_quote(quoted, s) - quoted);
	free(quoted);
}

enum { EVENTS, NOTES, STRINGS, KINDS };

static struct track {
	uint64_t uuid, parent;
	char *name;
	bool is_counter;
} * tracks;
static size_t num_tracks, cap_tracks;

struct open_slice {
	struct text line;
	uint64_t ts;
	bool has_slices;
};

static struct sequence {
	bool valid;
	uint64_t uuid, clock, ns;
	struct slice names[KINDS][4096];
	uint64_t last; /* of its slices */
	struct open_slice open[8];
	unsigned depth;
} * *sequences;
static size_t num_sequences;
static uint64_t num_packets, num_skipped;

static struct sequence *sequence_of(uint64_t id)
{
	if (!id || id > 1000000)
		errx(1, "sequence %" PRIu64, id);
	while (num_sequences <= id) {
		sequences = mem_resize(sequences, num_sequences + 1, sizeof(*sequences));
		sequences[num_sequences++] = NULL;
	}
	if (!sequences[id])
		sequences[id] = mem_array(1, sizeof(*sequences[id]));
	return sequences[id];
}

static struct track *track_of(uint64_t uuid)
{
	for (size_t i = 0; i < num_tracks; i++)
		if (tracks[i].uuid == uuid)
			return &tracks[i];
	return NULL;
}

/* Whether a track and those above it are known. */
static bool is_described(uint64_t uuid)
{
	const struct track *track;

	while (uuid) {
		track = track_of(uuid);
		if (!track)
			return false;
		uuid = track->parent;
	}
	return true;
}

/* InternedData */
static void read_interned(struct sequence *s, struct slice message)
{
	struct field f, g;

	while (next_field(&message, &f)) {
		unsigned kind = f.number == 2 ? EVENTS : f.number == 3 ? NOTES : f.number == 29 ? STRINGS : KINDS;
		uint64_t iid = 0;
		struct slice text = {"", 0};

		if (kind == KINDS)
			unknown("InternedData", &f);
		while (next_field(&f.bytes, &g)) {
			if (g.number == 1)
				iid = g.value;
			else if (g.number == 2)
				text = g.bytes;
			else
				unknown("an interned name", &g);
		}
		if (!iid || iid >= 4096 || s->names[kind][iid].p)
			errx(1, "number %" PRIu64 " is interned twice, or none", iid);
		s->names[kind][iid] = text;
	}
}

static struct slice interned(const struct sequence *s, unsigned kind, uint64_t iid)
{
	if (!iid || iid >= 4096 || !s->names[kind][iid].p)
		errx(1, "number %" PRIu64 " is not interned", iid);
	return s->names[kind][iid];
}

/* DebugAnnotation, as a member of an object */
static void add_note(struct text *t, const struct sequence *s, struct slice message)
{
	struct slice rest = message;
	struct text entries = {};
	char number[64];
	struct field f;

	while (next_field(&rest, &f))
		if (f.number == 1 || f.number == 10)
			add_string(t, f.number == 1 ? interned(s, NOTES, f.value) : f.bytes);
	add_text(t, ":");
	while (next_field(&message, &f)) {
		double real;

		switch (f.number) {
		case 1:
		case 10:
			break;
		case 2:
			add_text(t, f.value ? "true" : "false");
			break;
		case 3:
			add_number(t, "", f.value);
			break;
		case 5:
			memcpy(&real, &f.value, sizeof(real));
			snprintf(number, sizeof(number), "%.17g", real);
			add_text(t, number);
			break;
		case 6:
			add_string(t, f.bytes);
			break;
		case 7:
			snprintf(number, sizeof(number), "\"0x%" PRIx64 "\"", f.value);
			add_text(t, number);
			break;
		case 11:
			add_text(&entries, entries.n ? "," : "{");
			add_note(&entries, s, f.bytes);
			break;
		case 17:
			add_string(t, interned(s, STRINGS, f.value));
			break;
		default:
			unknown("DebugAnnotation", &f);
		}
	}
	if (entries.n) {
		add(t, entries.p, entries.n);
		add_text(t, "}");
	}
	free(entries.p);
}

static void add_path(struct text *t, uint64_t uuid)
{
	const struct track *track = track_of(uuid);

	if (!track)
		errx(1, "track %" PRIu64 " was not described", uuid);
	if (track->parent) {
		add_path(t, track->parent);
		add_text(t, ",");
	}
	add_string(t, slice_of(track->name));
}

/* Adds the fields of an event other than its type. */
static void add_event(struct text *t, const struct sequence *s, struct slice message, uint64_t ts)
{
	struct text notes = {}, flows = {}, ends = {};
	struct field f;

	while (next_field(&message, &f)) {
		if (f.number == 10 || f.number == 23) {
			add_text(t, "\"name\":");
			add_string(t, f.number == 10 ? interned(s, EVENTS, f.value) : f.bytes);
			add_text(t, ",");
		} else if (f.number == 4) {
			add_text(&notes, notes.n ? "," : "");
			add_note(&notes, s, f.bytes);
		} else if (f.number == 47) {
			add_number(&flows, flows.n ? "," : "", f.value);
		} else if (f.number == 48) {
			add_number(&ends, ends.n ? "," : "", f.value);
		} else if (f.number != 9 && f.number != 12 && f.number != 31) {
			unknown("TrackEvent", &f);
		}
	}
	add_number(t, "\"ts\":", ts);
	add_text(t, ",\"args\":{");
	add(t, notes.n ? notes.p : "", notes.n);
	add_text(t, "},\"flows\":[");
	add(t, flows.n ? flows.p : "", flows.n);
	add_text(t, "],\"ends\":[");
	add(t, ends.n ? ends.p : "", ends.n);
	add_text(t, "]");
	free(notes.p);
	free(flows.p);
	free(ends.p);
}

/* Ends the innermost slice with this text; the outermost one is printed as a line. */
static void end_slice(struct sequence *s, const char *text)
{
	struct open_slice *slice;

	if (!s->depth)
		errx(1, "a slice ends that did not begin");
	slice = &s->open[--s->depth];
	if (slice->has_slices)
		add_text(&slice->line, "]");
	add_text(&slice->line, text);
	if (!s->depth) {
		puts(slice->line.p);
	} else {
		struct open_slice *outer = &s->open[s->depth - 1];

		add_text(&outer->line, outer->has_slices ? "," : ",\"slices\":[");
		outer->has_slices = true;
		add(&outer->line, slice->line.p, slice->line.n);
	}
	slice->line.n = 0;
}

static void begin_slice(struct sequence *s, struct slice event, uint64_t ts)
{
	struct open_slice *slice = &s->open[s->depth];

	if (s->depth == sizeof(s->open) / sizeof(*s->open))
		errx(1, "slices are nested too deep");
	slice->line.n = 0;
	slice->has_slices = false;
	slice->ts = ts;
	add_text(&slice->line, "{");
	if (!s->depth) {
		add_text(&slice->line, "\"track\":[");
		add_path(&slice->line, s->uuid);
		add_number(&slice->line, "],\"row\":", s->uuid & UINT32_MAX);
		add_text(&slice->line, ",");
	}
	add_event(&slice->line, s, event, ts);
	s->depth++;
}

static void print_count(uint64_t uuid, uint64_t ts, uint64_t value)
{
	const struct track *track = track_of(uuid);
	struct text path = {};

	if (!track || !track->is_counter)
		errx(1, "a value is on a track that is no counter");
	add_path(&path, uuid);
	printf("{\"track\":[%s],\"ts\":%" PRIu64 ",\"value\":%" PRIu64 "}\n", path.p, ts, value);
	free(path.p);
}

static void read_event(struct sequence *s, struct slice event, uint64_t ts)
{
	struct slice rest = event;
	const struct track *track = track_of(s->uuid);
	uint64_t type = 0, value = 0;
	struct field f;
	char end[64];

	while (next_field(&rest, &f)) {
		type = f.number == 9 ? f.value : type;
		value = f.number == 30 ? f.value : value;
	}
	if (!track || track->is_counter != (type == 4))
		errx(1, "an event of type %" PRIu64 " is not on a track of its kind", type);
	if (type == 4) {
		print_count(s->uuid, ts, value);
		return;
	}
	/* slices of a row are in order; entries of an lcore may not be */
	if ((s->depth || type != 3) && ts < s->last)
		errx(1, "a slice is earlier than the one before it on its track: %" PRIu64 " after %" PRIu64, ts,
		     s->last);
	s->last = ts > s->last ? ts : s->last;
	if (type == 1 || type == 3)
		begin_slice(s, event, ts);
	if (type == 3) {
		end_slice(s, ",\"instant\":true}");
	} else if (type == 2 && s->depth) {
		snprintf(end, sizeof(end), ",\"dur\":%" PRIu64 "}", ts - s->open[s->depth - 1].ts);
		end_slice(s, end);
	} else if (type != 1) {
		errx(1, "an event of type %" PRIu64 " with nothing to end", type);
	}
}

/* TrackDescriptor */
static void read_track(struct slice message)
{
	struct track track = {}, *known;
	struct field f;

	while (next_field(&message, &f)) {
		if (f.number == 1)
			track.uuid = f.value;
		else if (f.number == 2)
			track.name = mem_copy(f.bytes);
		else if (f.number == 5)
			track.parent = f.value;
		else if (f.number == 8)
			track.is_counter = true;
		else if (f.number != 11 && f.number != 12)
			unknown("TrackDescriptor", &f);
	}
	known = track_of(track.uuid);
	if (known && (strcmp(known->name, track.name) || known->parent != track.parent))
		errx(1, "track '%s' becomes '%s'", known->name, track.name);
	if (known) {
		free(track.name);
		return;
	}
	tracks = mem_room(tracks, num_tracks, &cap_tracks);
	tracks[num_tracks++] = track;
}

/* ClockSnapshot: a clock of the sequence counts from it on. */
static void read_clocks(struct sequence *s, struct slice message)
{
	uint64_t ids[2] = {}, times[2] = {};
	unsigned n = 0;
	struct field f, g;

	while (next_field(&message, &f)) {
		bool incremental = false;

		if (f.number != 1 || n == 2)
			unknown("ClockSnapshot", &f);
		while (next_field(&f.bytes, &g)) {
			if (g.number == 1)
				ids[n] = g.value;
			else if (g.number == 2)
				times[n] = g.value;
			else if (g.number == 3)
				incremental = g.value;
			else
				unknown("Clock", &g);
		}
		if (incremental != (ids[n] == 64))
			errx(1, "clock %" PRIu64 " counts in another way", ids[n]);
		n++;
	}
	if (n != 2)
		errx(1, "a snapshot of %u clocks", n);
	if (ids[0] != 64) {
		printf("{\"clocks\":[[%" PRIu64 ",%" PRIu64 "],[%" PRIu64 ",%" PRIu64 "]]}\n", ids[0], times[0], ids[1],
		       times[1]);
		return;
	}
	if (ids[1] != 6 || times[0] != times[1] || times[0] < s->ns)
		errx(1, "the clock of a sequence goes back, or is not that of the trace");
	s->ns = times[0];
}

/* TracePacketDefaults */
static void read_defaults(struct sequence *s, struct slice message)
{
	struct field f, g;

	while (next_field(&message, &f)) {
		if (f.number == 58)
			s->clock = f.value;
		else if (f.number != 11)
			unknown("TracePacketDefaults", &f);
		else
			while (next_field(&f.bytes, &g)) {
				if (g.number == 11)
					s->uuid = g.value;
				else
					unknown("TrackEventDefaults", &g);
			}
	}
}

/* TracePacket */
static void read_packet(struct slice message)
{
	struct slice event = {}, names = {}, snapshot = {}, defaults = {};
	uint64_t id = 0, flags = 0, timestamp = 0, clock = 0;
	struct sequence *s;
	struct field f;

	num_packets++;
	while (next_field(&message, &f)) {
		switch (f.number) {
		case 6:
			snapshot = f.bytes;
			break;
		case 8:
			timestamp = f.value;
			break;
		case 10:
			id = f.value;
			break;
		case 11:
			event = f.bytes;
			break;
		case 12:
			names = f.bytes;
			break;
		case 13:
			flags = f.value;
			break;
		case 58:
			clock = f.value;
			break;
		case 59:
			defaults = f.bytes;
			break;
		case 60:
			read_track(f.bytes);
			break;
		default:
			unknown("TracePacket", &f);
		}
	}
	s = sequence_of(id);
	if (flags & 1) {
		s->valid = true;
		s->uuid = 0;
		memset(s->names, 0, sizeof(s->names));
	}
	if (defaults.p)
		read_defaults(s, defaults);
	if (snapshot.p)
		read_clocks(s, snapshot);
	if (!event.p)
		return;
	if (!s->valid || !is_described(s->uuid)) {
		num_skipped++;
		return;
	}
	if (flags != 2)
		errx(1, "an event does not say that it needs what came before");
	if (names.p)
		read_interned(s, names);
	clock = clock ? clock : s->clock;
	if (clock == 64)
		timestamp = s->ns += timestamp;
	read_event(s, event, timestamp);
}

static struct slice read_all(void)
{
	struct text all = {};
	char block[1 << 16];
	size_t n;

	add(&all, "", 0);
	while ((n = fread(block, 1, sizeof(block), stdin)))
		add(&all, block, n);
	return (struct slice){all.p, all.n};
}

int main(int argc, char **argv)
{
	uint64_t lost = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	struct slice all = read_all(), rest = all;
	struct field f;

	while (next_field(&rest, &f)) {
		if (f.number != 1 || f.wire != 2)
			unknown("Trace", &f);
		if (lost)
			lost--;
		else
			read_packet(f.bytes);
	}
	for (size_t i = 0; i < num_sequences; i++) {
		struct sequence *s = sequences[i];

		while (s && s->depth)
			end_slice(s, "}");
		for (unsigned k = 0; s && k < sizeof(s->open) / sizeof(*s->open); k++)
			free(s->open[k].line.p);
		free(s);
	}
	printf("{\"packets\":%" PRIu64 ",\"skipped\":%" PRIu64 "}\n", num_packets, num_skipped);
	for (size_t i = 0; i < num_tracks; i++)
		free(tracks[i].name);
	free(tracks);
	free(sequences);
	free((char *)all.p);
	return 0;
}
