/* SPDX-License-Identifier: BSD-3-Clause */
#include "events.h"

#include <stdlib.h>

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

void events_start(struct picture *p)
{
	p->notes.text.fd = p->full_name.fd = p->name.fd = p->arrows.fd = OUT_MEMORY;
	out_text(p->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void events_end(struct picture *p)
{
	out_text(p->out, "\n]}\n");
}

void events_pass(struct picture *p, uint64_t ns)
{
	p->now = ns > p->now ? ns : p->now;
}

static bool is_process(const struct track *track)
{
	return track->kind == PICTURE_PROCESS || track->kind == PICTURE_CONNECTION;
}

/* The process that a track is in, or is. */
static uint32_t process_of(const struct picture *p, uint32_t number)
{
	while (!is_process(p->tracks[number]))
		number = p->tracks[number]->parent;
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
static struct slice full_name(struct picture *p, enum picture_kind kind, uint32_t parent, struct slice name)
{
	const struct track *above = parent == MAP_NONE ? NULL : p->tracks[parent];

	p->full_name.len = 0;
	if (kind == PICTURE_CONNECTION) {
		const char *source = p->tracks[process_of(p, parent)]->name;

		if (strcmp(source, PLACES_NO_SOURCE) != 0)
			put_word(&p->full_name, source);
	}
	if (above && (above->kind == PICTURE_HOST || above->kind == PICTURE_THREAD) && !slice_starts(name, above->name))
		put_word(&p->full_name, above->name);
	out_slice(&p->full_name, name);
	return out_contents(&p->full_name);
}

uint32_t picture_add_track(struct picture *p, enum picture_kind kind, uint32_t parent, uint32_t rank, struct slice name)
{
	struct track *track = mem_array(1, sizeof(*track));
	uint32_t process;
	char *to;

	*track = (struct track){.kind = kind, .parent = parent, .rank = rank};
	track->name = mem_copy(full_name(p, kind, parent, name));
	p->tracks = mem_room(p->tracks, p->num_tracks, &p->cap_tracks);
	p->tracks[p->num_tracks++] = track;
	process = process_of(p, p->num_tracks - 1);
	to = digits_u64(PUT(track->head, HEAD), (uint64_t)process + 1);
	/* counters belong to a process; Perfetto expects a thread of it */
	to = digits_u64(PUT(to, ",\"tid\":"), kind == PICTURE_COUNTER ? (uint64_t)process + 1 : p->num_tracks);
	track->head_n = PUT(to, ",\"ts\":") - track->head;
	return p->num_tracks - 1;
}

/* An event that says something about a process or a thread. */
static void put_metadata(struct picture *p, uint32_t number, const char *name, const char *member)
{
	struct track *track = p->tracks[number];

	out_text(p->out, p->has_event ? ",\n" : "\n");
	p->has_event = true;
	out_text(p->out, "{\"ph\":\"M\",\"pid\":");
	out_u64(p->out, (uint64_t)process_of(p, number) + 1);
	if (!is_process(track)) {
		out_text(p->out, ",\"tid\":");
		out_u64(p->out, (uint64_t)number + 1);
	}
	out_text(p->out, ",\"name\":\"");
	out_text(p->out, is_process(track) ? "process_" : "thread_");
	out_text(p->out, name);
	out_text(p->out, "\",\"args\":{\"");
	out_text(p->out, member);
	out_text(p->out, "\":");
}

/* Names a track, unless that was done, and the process that it is in. */
static void describe(struct picture *p, uint32_t number)
{
	struct track *track = p->tracks[number];
	uint32_t process = process_of(p, number), rank = track->rank;

	track->is_described = true;
	if (process != number && !p->tracks[process]->is_described)
		describe(p, process);
	if (track->kind == PICTURE_COUNTER)
		return;
	put_metadata(p, number, "name", "name");
	out_char(p->out, '"');
	out_text(p->out, track->name);
	out_text(p->out, "\"}}");
	/* processes in their order, connections in that of their first lines; rows of an lcore next to it */
	if (is_process(track))
		rank = number;
	else if (p->tracks[track->parent]->kind == PICTURE_THREAD)
		rank = p->tracks[track->parent]->rank;
	put_metadata(p, number, "sort_index", "sort_index");
	out_u64(p->out, rank);
	out_text(p->out, "}}");
}

static char *put(char *to, struct slice text)
{
	return mempcpy(to, text.p, text.n);
}

/* Starts an event, up to its name. out has ROOM besides the name. */
static inline char *put_event(char *to, const struct track *track, char phase, uint64_t ns, struct slice name)
{
	/* a constant size is quicker */
	memcpy(to, track->head, sizeof(track->head));
	to[PHASE] = phase;
	to = put(PUT(digits_us(to + track->head_n, ns), ",\"name\":\""), name);
	*to++ = '"';
	return to;
}

/* The track of an event that is written next. */
static inline struct track *track_of(struct picture *p, uint32_t number)
{
	struct track *track = p->tracks[number];

	if (!track->is_described)
		describe(p, number);
	return track;
}

/* A slice that is still open ends with the trace: viewers nest those without an end in different ways. */
static inline uint64_t end_of(const struct picture *p, uint64_t end)
{
	return end == PICTURE_NO_END ? p->now : end;
}

/* The rest of an event. out has ROOM besides the notes. */
static inline void put_notes(struct out *out, char *to, const struct notes *notes)
{
	if (notes->text.len) {
		to = put(PUT(to, ",\"args\":{"), out_contents(&notes->text));
		*to++ = '}';
	}
	*to++ = '}';
	out_commit(out, to);
}

void picture_expect(struct picture *p, uint32_t track, const uint32_t counters[PICTURE_COUNTERS])
{
	/* each value is an event of its counter */
	(void)p;
	(void)track;
	(void)counters;
}

void picture_count(struct picture *p, uint32_t counter, uint64_t ns, uint64_t value)
{
	struct track *track = track_of(p, counter);
	struct slice name = slice_of(track->name);
	char *to = put_event(out_room(p->out, ROOM + name.n), track, 'C', ns, name);

	to = digits_u64(PUT(to, ",\"args\":{\"value\":"), value);
	out_commit(p->out, PUT(to, "}}"));
}

static void put_values(struct picture *p, uint64_t ns, const struct picture_values *values)
{
	for (unsigned i = 0; i < PICTURE_COUNTERS; i++)
		picture_count(p, values->counters[i], ns, values->values[i]);
}

/*
 * A slice has two events: its begin and its end. One event with a duration would be shorter, but viewers compute the
 * end in floating point: if that is later than the next begin, speedscope and Tracy put the next slice into this one.
 * speedscope finds the slice that ends by its name, but no empty one that has arguments. Those are instants, because a
 * single complete event (X) in a trace makes Perfetto sort all ends of slices before what comes at the same time.
 */
void picture_begin(struct picture *p, uint32_t track, uint64_t begin, uint64_t end, struct slice name,
		   const struct picture_values *values)
{
	bool is_empty = end_of(p, end) == begin;
	char *to;

	p->track = track_of(p, track);
	p->begin = begin;
	if (values)
		put_values(p, begin, values);
	p->name.len = p->arrows.len = 0;
	out_slice(&p->name, name);
	to = put_event(out_room(p->out, ROOM + name.n), p->track, is_empty ? 'i' : 'B', begin, name);
	out_commit(p->out, is_empty ? PUT(to, THREAD_SCOPE) : to);
}

void picture_arrow(struct picture *p, uint64_t number, bool to_here, bool later)
{
	char *to;

	/* viewers pair the two ends in the order of their times */
	if (!later)
		return;
	to = put_event(out_room(&p->arrows, ROOM), p->track, to_here ? 'f' : 's', p->begin, slice_of("caused"));
	to = digits_u64(PUT(to, ",\"cat\":\"caused\",\"id\":"), number);
	/* to the slice at that time, not to the next one */
	if (to_here)
		to = PUT(to, ",\"bp\":\"e\"");
	*to++ = '}';
	out_commit(&p->arrows, to);
}

void picture_close(struct picture *p, const struct notes *notes)
{
	put_notes(p->out, out_room(p->out, ROOM + notes->text.len), notes);
	out_slice(p->out, out_contents(&p->arrows));
}

static void put_end(struct picture *p, const struct track *track, uint64_t end, struct slice name)
{
	char *to = put_event(out_room(p->out, ROOM + name.n), track, 'E', end, name);

	*to++ = '}';
	out_commit(p->out, to);
}

void picture_end(struct picture *p, uint32_t track, uint64_t end, const struct picture_values *values)
{
	(void)track;
	end = end_of(p, end);
	if (end != p->begin)
		put_end(p, p->track, end, out_contents(&p->name));
	if (values)
		put_values(p, end, values);
}

static void put_instant(struct picture *p, const struct track *track, uint64_t ns, struct slice name,
			const struct notes *notes)
{
	char *to = put_event(out_room(p->out, ROOM + name.n + notes->text.len), track, 'i', ns, name);

	put_notes(p->out, PUT(to, THREAD_SCOPE), notes);
}

void picture_state(struct picture *p, uint32_t track, uint64_t begin, uint64_t end, uint32_t state,
		   const struct notes *notes)
{
	struct track *of = track_of(p, track);
	struct slice name = p->states->all[state];

	end = end_of(p, end);
	if (end == begin) {
		put_instant(p, of, begin, name, notes);
		return;
	}
	put_notes(p->out, put_event(out_room(p->out, ROOM + name.n + notes->text.len), of, 'B', begin, name), notes);
	put_end(p, of, end, name);
}

void picture_instant(struct picture *p, uint32_t track, uint64_t ns, uint32_t state, uint64_t arrow,
		     const struct notes *notes)
{
	/* in this format arrows lead to slices only */
	(void)arrow;
	put_instant(p, track_of(p, track), ns, p->states->all[state], notes);
}

void events_free(struct picture *p)
{
	for (uint32_t i = 0; i < p->num_tracks; i++) {
		free(p->tracks[i]->name);
		free(p->tracks[i]);
	}
	free(p->tracks);
	out_close(&p->notes.text);
	out_close(&p->full_name);
	out_close(&p->name);
	out_close(&p->arrows);
}
