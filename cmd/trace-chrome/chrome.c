/* SPDX-License-Identifier: BSD-3-Clause */
#include "chrome.h"

#include <stdlib.h>

#include "arguments.h"
#include "digits.h"
#include "mem.h"
#include "track_tree.h"

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
	struct chrome *c = context;

	(void)line;
	c->now = ns > c->now ? ns : c->now;
}

static bool is_process(const struct chrome *c, enum writer_track kind, uint32_t parent)
{
	return kind == WRITER_PROCESS || kind == WRITER_HOST ||
	       (kind == WRITER_CONNECTION && c->tracks[parent]->kind == WRITER_PROCESS);
}

/* The process that a track is in, or is. */
static uint32_t process_of(const struct chrome *c, uint32_t number)
{
	while (!c->tracks[number]->is_process)
		number = c->tracks[number]->parent;
	return number;
}

static void put_word(struct out *out, const char *word)
{
	out_text(out, word);
	out_char(out, ' ');
}

/*
 * A track is named by itself, where viewers show it apart from those above it: a host with its source if it has one,
 * what is below an lcore with the lcore, and what is below a connection with the connection.
 */
static struct slice full_name(struct chrome *c, bool is_process, uint32_t parent, struct slice name)
{
	const struct chrome_track *above = parent == MAP_NONE ? NULL : c->tracks[parent];

	c->full_name.len = 0;
	if (above && is_process) {
		const char *source = c->tracks[process_of(c, parent)]->name;

		if (strcmp(source, TRACK_TREE_NO_SOURCE) != 0)
			put_word(&c->full_name, source);
	}
	if (above && (above->kind == WRITER_THREAD || (above->kind == WRITER_CONNECTION && !above->is_process)))
		put_word(&c->full_name, above->name);
	out_slice(&c->full_name, name);
	return out_contents(&c->full_name);
}

static uint32_t add_track(void *context, enum writer_track kind, uint32_t parent, uint32_t rank, struct slice name)
{
	struct chrome *c = context;
	struct chrome_track *track = mem_array(1, sizeof(*track));
	uint32_t process;
	char *to;

	*track = (struct chrome_track){
		.kind = kind, .parent = parent, .rank = rank, .is_process = is_process(c, kind, parent)};
	track->name = mem_copy(full_name(c, track->is_process, parent, name));
	c->tracks = mem_room(c->tracks, c->num_tracks, &c->cap_tracks);
	c->tracks[c->num_tracks++] = track;
	process = process_of(c, c->num_tracks - 1);
	to = digits_u64(PUT(track->head, HEAD), (uint64_t)process + 1);
	/* counters belong to a process; Perfetto expects a thread of it */
	to = digits_u64(PUT(to, ",\"tid\":"), kind == WRITER_COUNTER ? (uint64_t)process + 1 : c->num_tracks);
	track->head_n = PUT(to, ",\"ts\":") - track->head;
	return c->num_tracks - 1;
}

/* An event that says something about a process or a thread. */
static void put_metadata(struct chrome *c, uint32_t number, const char *name, const char *member)
{
	struct chrome_track *track = c->tracks[number];

	out_text(c->out, c->has_event ? ",\n" : "\n");
	c->has_event = true;
	out_text(c->out, "{\"ph\":\"M\",\"pid\":");
	out_u64(c->out, (uint64_t)process_of(c, number) + 1);
	if (!track->is_process) {
		out_text(c->out, ",\"tid\":");
		out_u64(c->out, (uint64_t)number + 1);
	}
	out_text(c->out, ",\"name\":\"");
	out_text(c->out, track->is_process ? "process_" : "thread_");
	out_text(c->out, name);
	out_text(c->out, "\",\"args\":{\"");
	out_text(c->out, member);
	out_text(c->out, "\":");
}

/* The rank of a row is 1 + its kind: a letter of the objects', or one of the two after them. */
enum { RANK_BITS = 9 };

/* Processes and hosts are in the order of their first lines; rows are next to their lcore, or connection. */
static uint64_t order_of(const struct chrome *c, uint32_t number)
{
	const struct chrome_track *track = c->tracks[number];
	const struct chrome_track *above = track->parent == MAP_NONE ? NULL : c->tracks[track->parent];

	if (track->is_process)
		return number;
	if (above->kind == WRITER_CONNECTION && !above->is_process)
		return (uint64_t)track->parent << RANK_BITS | track->rank;
	return above->kind == WRITER_THREAD ? above->rank : track->rank;
}

/* Names a track, unless that was done, and the process that it is in. */
static void describe(struct chrome *c, uint32_t number)
{
	struct chrome_track *track = c->tracks[number];
	uint32_t process = process_of(c, number);

	track->is_described = true;
	if (process != number && !c->tracks[process]->is_described)
		describe(c, process);
	if (track->kind == WRITER_COUNTER)
		return;
	put_metadata(c, number, "name", "name");
	out_char(c->out, '"');
	out_text(c->out, track->name);
	out_text(c->out, "\"}}");
	put_metadata(c, number, "sort_index", "sort_index");
	out_u64(c->out, order_of(c, number));
	out_text(c->out, "}}");
}

static char *put(char *to, struct slice text)
{
	return mempcpy(to, text.p, text.n);
}

/* Starts an event, up to its name, which follows a quote. `to` has ROOM. */
static inline char *put_head(char *to, const struct chrome_track *track, char phase, uint64_t ns)
{
	/* a constant size is quicker */
	memcpy(to, track->head, sizeof(track->head));
	to[PHASE] = phase;
	return PUT(digits_us(to + track->head_n, ns), ",\"name\":\"");
}

/* Starts an event, including its name. `to` has ROOM besides the name. */
static inline char *put_event(char *to, const struct chrome_track *track, char phase, uint64_t ns, struct slice name)
{
	to = put(put_head(to, track, phase, ns), name);
	*to++ = '"';
	return to;
}

/* The track of an event that is written next. */
static inline struct chrome_track *track_of(struct chrome *c, uint32_t number)
{
	struct chrome_track *track = c->tracks[number];

	if (!track->is_described)
		describe(c, number);
	return track;
}

/* A slice that is still open ends with the trace: viewers nest those without an end in different ways. */
static inline uint64_t end_of(const struct chrome *c, uint64_t end)
{
	return end == WRITER_NO_END ? c->now : end;
}

/* The rest of an event. `to` has ROOM besides the arguments. Returns where the next event begins. */
static inline char *put_args(const struct chrome *c, char *to)
{
	if (c->args.len) {
		to = put(PUT(to, ",\"args\":{"), out_contents(&c->args));
		*to++ = '}';
	}
	*to++ = '}';
	return to;
}

static void put_count(void *context, uint32_t counter, uint64_t ns, uint64_t value)
{
	struct chrome *c = context;
	struct chrome_track *track = track_of(c, counter);
	struct slice name = slice_of(track->name);
	char *to = put_event(out_room(c->out, ROOM + name.n), track, 'C', ns, name);

	to = digits_u64(PUT(to, ",\"args\":{\"value\":"), value);
	out_commit(c->out, PUT(to, "}}"));
}

static void put_values(struct chrome *c, uint64_t ns, const struct writer_values *values)
{
	for (unsigned i = 0; i < WRITER_VALUES; i++)
		put_count(c, values->counters[i], ns, values->values[i]);
}

/*
 * A slice has two events: its start and its end. One event with a duration would be shorter, but viewers compute the
 * end in floating point: if that is later than the next begin, speedscope and Tracy put the next slice into this one.
 * speedscope finds the slice that ends by its name and arguments, so both events have the same. It finds no empty one:
 * those are instants, because a single complete event (X) in a trace makes Perfetto sort all ends of slices before what
 * comes at the same time.
 */
static void begin_slice(void *context, uint32_t track, uint64_t begin, uint64_t end, struct slice name,
			const struct writer_values *values)
{
	struct chrome *c = context;
	bool is_empty = end_of(c, end) == begin;
	char *to;

	c->track = track_of(c, track);
	c->begin = begin;
	if (values)
		put_values(c, begin, values);
	c->rest.len = c->arrows.len = 0;
	out_slice(&c->rest, name);
	to = put_event(out_room(c->out, ROOM + name.n), c->track, is_empty ? 'i' : 'B', begin, name);
	out_commit(c->out, is_empty ? PUT(to, THREAD_SCOPE) : to);
}

static void add_arrow(void *context, uint64_t number, bool to_here, bool later)
{
	struct chrome *c = context;
	char *to;

	/* viewers pair the two ends in the order of their times */
	if (!later)
		return;
	to = put_event(out_room(&c->arrows, ROOM), c->track, to_here ? 'f' : 's', c->begin, slice_of("caused"));
	to = digits_u64(PUT(to, ",\"cat\":\"caused\",\"id\":"), number);
	/* to the slice at that time, not to the next one */
	if (to_here)
		to = PUT(to, ",\"bp\":\"e\"");
	*to++ = '}';
	out_commit(&c->arrows, to);
}

static void annotate(void *context)
{
	struct chrome *c = context;

	out_commit(c->out, put_args(c, out_room(c->out, ROOM + c->args.len)));
	out_slice(c->out, out_contents(&c->arrows));
	out_char(&c->rest, '"');
	out_commit(&c->rest, put_args(c, out_room(&c->rest, ROOM + c->args.len)));
}

static void end_slice(void *context, uint32_t track, uint64_t end, const struct writer_values *values)
{
	struct chrome *c = context;
	size_t n = c->rest.len;

	(void)track;
	end = end_of(c, end);
	if (end != c->begin)
		out_commit(c->out,
			   put(put_head(out_room(c->out, ROOM + n), c->track, 'E', end), out_contents(&c->rest)));
	if (values)
		put_values(c, end, values);
}

static void put_point(struct chrome *c, const struct chrome_track *track, uint64_t ns, struct slice name)
{
	char *to = put_event(out_room(c->out, ROOM + name.n + c->args.len), track, 'i', ns, name);

	out_commit(c->out, put_args(c, PUT(to, THREAD_SCOPE)));
}

/* One end of the slice of a state. */
static inline void put_edge(struct chrome *c, const struct chrome_track *track, char phase, uint64_t ns,
			    struct slice name)
{
	char *to = out_room(c->out, ROOM + name.n + c->args.len);

	out_commit(c->out, put_args(c, put_event(to, track, phase, ns, name)));
}

static void put_state(void *context, uint32_t track, uint64_t begin, uint64_t end, uint32_t state)
{
	struct chrome *c = context;
	struct chrome_track *of = track_of(c, track);
	struct slice name = c->states->all[state];

	end = end_of(c, end);
	if (end == begin) {
		put_point(c, of, begin, name);
		return;
	}
	put_edge(c, of, 'B', begin, name);
	put_edge(c, of, 'E', end, name);
}

static void put_instant(void *context, uint32_t track, uint64_t ns, uint32_t state, uint64_t arrow)
{
	struct chrome *c = context;

	/* in this format arrows lead to slices only */
	(void)arrow;
	put_point(c, track_of(c, track), ns, c->states->all[state]);
}

struct writer chrome_start(struct chrome *c, struct out *out, const struct intern *states)
{
	struct writer w = {
		.context = c,
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

	arguments_start(&w, &c->args);
	c->out = out;
	c->states = states;
	c->full_name.fd = c->rest.fd = c->arrows.fd = OUT_MEMORY;
	out_text(out, "{\"traceEvents\":[");
	return w;
}

void chrome_end(struct chrome *c)
{
	out_text(c->out, "\n]}\n");
}

void chrome_free(struct chrome *c)
{
	for (uint32_t i = 0; i < c->num_tracks; i++) {
		free(c->tracks[i]->name);
		free(c->tracks[i]);
	}
	free(c->tracks);
	out_close(&c->args);
	out_close(&c->full_name);
	out_close(&c->rest);
	out_close(&c->arrows);
}
