/* SPDX-License-Identifier: BSD-3-Clause */
#include "events.h"

#include <stdlib.h>

#include "arguments.h"
#include "digits.h"
#include "mem.h"
#include "places.h"

/* An event is written in one piece: at most this many bytes besides texts. */
enum { ROOM = 256 };

/* A literal. */
#define PUT(to, text) ((char *)mempcpy(to, text, sizeof(text) - 1))

/* An instant is one of its thread. */
#define THREAD_SCOPE ",\"s\":\"t\""

/* The start of an event, and where in it the phase is. There is one before it, hence the comma. */
#define HEAD ",\n{\"ph\":\" \",\"pid\":"
enum { PHASE = sizeof(",\n{\"ph\":\"") - 1 };

/* For writer.line. */
static void pass(void *context, const struct traceline *line, uint64_t ns)
{
	struct events *e = context;

	(void)line;
	e->now = ns > e->now ? ns : e->now;
}

static bool is_process(const struct events_track *track)
{
	return track->kind == WRITER_PROCESS || track->kind == WRITER_CONNECTION;
}

/* The process that a track is in, or is. */
static uint32_t process_of(const struct events *e, uint32_t number)
{
	while (!is_process(e->tracks[number]))
		number = e->tracks[number]->parent;
	return number;
}

static void put_word(struct out *out, const char *word)
{
	out_text(out, word);
	out_char(out, ' ');
}

/*
 * A track is named by itself, where viewers show it apart from those above it: a connection with its host, and its
 * source if it has one; what is below an lcore with the lcore.
 */
static struct slice full_name(struct events *e, enum writer_track kind, uint32_t parent, struct slice name)
{
	const struct events_track *above = parent == MAP_NONE ? NULL : e->tracks[parent];

	e->full_name.len = 0;
	if (kind == WRITER_CONNECTION) {
		const char *source = e->tracks[process_of(e, parent)]->name;

		if (strcmp(source, PLACES_NO_SOURCE) != 0)
			put_word(&e->full_name, source);
	}
	if (above && (above->kind == WRITER_HOST || above->kind == WRITER_THREAD) && !slice_starts(name, above->name))
		put_word(&e->full_name, above->name);
	out_slice(&e->full_name, name);
	return out_contents(&e->full_name);
}

static uint32_t add_track(void *context, enum writer_track kind, uint32_t parent, uint32_t rank, struct slice name)
{
	struct events *e = context;
	struct events_track *track = mem_array(1, sizeof(*track));
	uint32_t process;
	char *to;

	*track = (struct events_track){.kind = kind, .parent = parent, .rank = rank};
	track->name = mem_copy(full_name(e, kind, parent, name));
	e->tracks = mem_room(e->tracks, e->num_tracks, &e->cap_tracks);
	e->tracks[e->num_tracks++] = track;
	process = process_of(e, e->num_tracks - 1);
	to = digits_u64(PUT(track->head, HEAD), (uint64_t)process + 1);
	/* counters belong to a process; Perfetto expects a thread of it */
	to = digits_u64(PUT(to, ",\"tid\":"), kind == WRITER_COUNTER ? (uint64_t)process + 1 : e->num_tracks);
	track->head_n = PUT(to, ",\"ts\":") - track->head;
	return e->num_tracks - 1;
}

/* An event that says something about a process or a thread. */
static void put_metadata(struct events *e, uint32_t number, const char *name, const char *member)
{
	struct events_track *track = e->tracks[number];

	out_text(e->out, e->has_event ? ",\n" : "\n");
	e->has_event = true;
	out_text(e->out, "{\"ph\":\"M\",\"pid\":");
	out_u64(e->out, (uint64_t)process_of(e, number) + 1);
	if (!is_process(track)) {
		out_text(e->out, ",\"tid\":");
		out_u64(e->out, (uint64_t)number + 1);
	}
	out_text(e->out, ",\"name\":\"");
	out_text(e->out, is_process(track) ? "process_" : "thread_");
	out_text(e->out, name);
	out_text(e->out, "\",\"args\":{\"");
	out_text(e->out, member);
	out_text(e->out, "\":");
}

/* Names a track, unless that was done, and the process that it is in. */
static void describe(struct events *e, uint32_t number)
{
	struct events_track *track = e->tracks[number];
	uint32_t process = process_of(e, number), rank = track->rank;

	track->is_described = true;
	if (process != number && !e->tracks[process]->is_described)
		describe(e, process);
	if (track->kind == WRITER_COUNTER)
		return;
	put_metadata(e, number, "name", "name");
	out_char(e->out, '"');
	out_text(e->out, track->name);
	out_text(e->out, "\"}}");
	/* processes in their order, connections in that of their first lines; rows of an lcore next to it */
	if (is_process(track))
		rank = number;
	else if (e->tracks[track->parent]->kind == WRITER_THREAD)
		rank = e->tracks[track->parent]->rank;
	put_metadata(e, number, "sort_index", "sort_index");
	out_u64(e->out, rank);
	out_text(e->out, "}}");
}

static char *put(char *to, struct slice text)
{
	return mempcpy(to, text.p, text.n);
}

/* Starts an event, up to its name. `to` has ROOM besides the name. */
static inline char *put_event(char *to, const struct events_track *track, char phase, uint64_t ns, struct slice name)
{
	/* a constant size is quicker */
	memcpy(to, track->head, sizeof(track->head));
	to[PHASE] = phase;
	to = put(PUT(digits_us(to + track->head_n, ns), ",\"name\":\""), name);
	*to++ = '"';
	return to;
}

/* The track of an event that is written next. */
static inline struct events_track *track_of(struct events *e, uint32_t number)
{
	struct events_track *track = e->tracks[number];

	if (!track->is_described)
		describe(e, number);
	return track;
}

/* A slice that is still open ends with the trace: viewers nest those without an end in different ways. */
static inline uint64_t end_of(const struct events *e, uint64_t end)
{
	return end == WRITER_NO_END ? e->now : end;
}

/* The rest of an event. `to`, in e->out, has ROOM besides the arguments. */
static inline void put_args(struct events *e, char *to)
{
	if (e->args.len) {
		to = put(PUT(to, ",\"args\":{"), out_contents(&e->args));
		*to++ = '}';
	}
	*to++ = '}';
	out_commit(e->out, to);
}

static void put_count(void *context, uint32_t counter, uint64_t ns, uint64_t value)
{
	struct events *e = context;
	struct events_track *track = track_of(e, counter);
	struct slice name = slice_of(track->name);
	char *to = put_event(out_room(e->out, ROOM + name.n), track, 'C', ns, name);

	to = digits_u64(PUT(to, ",\"args\":{\"value\":"), value);
	out_commit(e->out, PUT(to, "}}"));
}

static void put_values(struct events *e, uint64_t ns, const struct writer_values *values)
{
	for (unsigned i = 0; i < WRITER_VALUES; i++)
		put_count(e, values->counters[i], ns, values->values[i]);
}

/*
 * A slice has two events: its begin and its end. One event with a duration would be shorter, but viewers compute the
 * end in floating point: if that is later than the next begin, speedscope and Tracy put the next slice into this one.
 * speedscope finds the slice that ends by its name, but no empty one that has arguments. Those are instants, because a
 * single complete event (X) in a trace makes Perfetto sort all ends of slices before what comes at the same time.
 */
static void begin_slice(void *context, uint32_t track, uint64_t begin, uint64_t end, struct slice name,
			const struct writer_values *values)
{
	struct events *e = context;
	bool is_empty = end_of(e, end) == begin;
	char *to;

	e->track = track_of(e, track);
	e->begin = begin;
	if (values)
		put_values(e, begin, values);
	e->name.len = e->arrows.len = 0;
	out_slice(&e->name, name);
	to = put_event(out_room(e->out, ROOM + name.n), e->track, is_empty ? 'i' : 'B', begin, name);
	out_commit(e->out, is_empty ? PUT(to, THREAD_SCOPE) : to);
}

static void add_arrow(void *context, uint64_t number, bool to_here, bool later)
{
	struct events *e = context;
	char *to;

	/* viewers pair the two ends in the order of their times */
	if (!later)
		return;
	to = put_event(out_room(&e->arrows, ROOM), e->track, to_here ? 'f' : 's', e->begin, slice_of("caused"));
	to = digits_u64(PUT(to, ",\"cat\":\"caused\",\"id\":"), number);
	/* to the slice at that time, not to the next one */
	if (to_here)
		to = PUT(to, ",\"bp\":\"e\"");
	*to++ = '}';
	out_commit(&e->arrows, to);
}

static void annotate(void *context)
{
	struct events *e = context;

	put_args(e, out_room(e->out, ROOM + e->args.len));
	out_slice(e->out, out_contents(&e->arrows));
}

static void put_end(struct events *e, const struct events_track *track, uint64_t end, struct slice name)
{
	char *to = put_event(out_room(e->out, ROOM + name.n), track, 'E', end, name);

	*to++ = '}';
	out_commit(e->out, to);
}

static void end_slice(void *context, uint32_t track, uint64_t end, const struct writer_values *values)
{
	struct events *e = context;

	(void)track;
	end = end_of(e, end);
	if (end != e->begin)
		put_end(e, e->track, end, out_contents(&e->name));
	if (values)
		put_values(e, end, values);
}

static void put_point(struct events *e, const struct events_track *track, uint64_t ns, struct slice name)
{
	char *to = put_event(out_room(e->out, ROOM + name.n + e->args.len), track, 'i', ns, name);

	put_args(e, PUT(to, THREAD_SCOPE));
}

static void put_state(void *context, uint32_t track, uint64_t begin, uint64_t end, uint32_t state)
{
	struct events *e = context;
	struct events_track *of = track_of(e, track);
	struct slice name = e->states->all[state];

	end = end_of(e, end);
	if (end == begin) {
		put_point(e, of, begin, name);
		return;
	}
	put_args(e, put_event(out_room(e->out, ROOM + name.n + e->args.len), of, 'B', begin, name));
	put_end(e, of, end, name);
}

static void put_instant(void *context, uint32_t track, uint64_t ns, uint32_t state, uint64_t arrow)
{
	struct events *e = context;

	/* in this format arrows lead to slices only */
	(void)arrow;
	put_point(e, track_of(e, track), ns, e->states->all[state]);
}

struct writer events_start(struct events *e, struct out *out, const struct intern *states)
{
	struct writer w = {
		.utf8 = true,
		.context = e,
		.line = pass,
		.add_track = add_track,
		.begin = begin_slice,
		.arrow = add_arrow,
		.annotate = annotate,
		.end = end_slice,
		.state = put_state,
		.instant = put_instant,
		.count = put_count,
	};

	arguments_start(&w, &e->args);
	e->out = out;
	e->states = states;
	e->full_name.fd = e->name.fd = e->arrows.fd = OUT_MEMORY;
	out_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return w;
}

void events_end(struct events *e)
{
	out_text(e->out, "\n]}\n");
}

void events_free(struct events *e)
{
	for (uint32_t i = 0; i < e->num_tracks; i++) {
		free(e->tracks[i]->name);
		free(e->tracks[i]);
	}
	free(e->tracks);
	out_close(&e->args);
	out_close(&e->full_name);
	out_close(&e->name);
	out_close(&e->arrows);
}
