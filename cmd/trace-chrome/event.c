/* SPDX-License-Identifier: BSD-3-Clause */
#include "event.h"

#include "digits.h"

/* The start of an event, up to its process. After event_open() there is always one before it, hence the comma. */
#define EVENT(phase) ",\n{\"ph\":\"" phase "\",\"pid\":"

/* An event is written in one piece: at most this many bytes besides name and arguments. */
enum { ROOM = 320 };

/* A literal. */
#define PUT(to, text) mempcpy(to, text, sizeof(text) - 1)

/* The thread id of an lcore's track. It is never 0, which has a special meaning to some readers. */
static uint64_t thread_of(uint32_t lcore)
{
	return (uint64_t)lcore + 1;
}

struct event_at event_at(uint64_t ns, uint32_t lcore, uint32_t process)
{
	struct event_at at = {.ns = ns, .lcore = lcore, .process = process};
	char *to = digits_u64(at.text, process);

	at.process_n = to - at.text;
	to = PUT(to, ",\"ts\":");
	to = digits_us(to, ns);
	at.time_n = to - at.text;
	to = PUT(to, ",\"tid\":");
	to = digits_u64(to, thread_of(lcore));
	at.n = to - at.text;
	return at;
}

static char *put(char *to, struct slice text)
{
	return mempcpy(to, text.p, text.n);
}

static char *put_family(char *to, struct slice family)
{
	if (!family.n)
		return to;
	*to++ = ' ';
	return put(to, family);
}

struct event_id event_id(struct slice letter, struct slice family, uint64_t number)
{
	struct event_id id;
	char *to = PUT(id.text, ",\"cat\":\"");

	to = put(to, letter);
	to = PUT(to, "\",\"id\":\"");
	to = put(to, letter);
	to = put_family(digits_u64(to, number), family);
	to = PUT(to, "\",\"name\":\"");
	id.n = to - id.text;
	return id;
}

/* Shared texts are copied with the constant size of their arrays: ROOM includes it. */
static inline char *put_at(char *to, const struct event_at *at)
{
	memcpy(to, at->text, sizeof(at->text));
	return to + at->n;
}

static inline char *put_id(char *to, const struct event_id *id)
{
	memcpy(to, id->text, sizeof(id->text));
	return to + id->n;
}

/* The name of an event after the quote that opens it, its arguments, and its end. */
static inline void close_event(struct out *out, char *to, struct slice name, struct slice args)
{
	to = put(to, name);
	*to++ = '"';
	if (args.n)
		to = put(PUT(to, ",\"args\":"), args);
	*to++ = '}';
	out_commit(out, to);
}

/* A string after the quote that opens it. */
static inline char *put_string(char *to, struct slice text)
{
	to = put(to, text);
	*to++ = '"';
	return to;
}

void event_args(struct out *out, const struct traceline *line)
{
	/* as they are in the line, from the quote of the first key on */
	struct slice args = line->num_args ? slice_between(line->args[0].key.p - 1, line->args_end) : (struct slice){};
	size_t n = line->object_id.n + line->related.n + line->poller.n + line->owner.n + line->size.n + args.n;
	char *start = out_room(out, ROOM + n), *to = start;

	if (line->object_id.p)
		to = put_string(PUT(to, ",\"object\":\""), line->object_id);
	if (line->related.p)
		to = put_string(PUT(to, ",\"related\":\""), line->related);
	if (line->poller.p)
		to = put_string(PUT(to, ",\"poller\":\""), line->poller);
	if (line->owner.p)
		to = put_string(PUT(to, ",\"owner\":\""), line->owner);
	if (line->size.p)
		to = put(PUT(to, ",\"size\":"), line->size);
	if (args.n)
		to = put(PUT(to, ","), args);
	/* replaces the first comma */
	*start = '{';
	to += to == start;
	*to++ = '}';
	out_commit(out, to);
}

void event_open(struct out *out)
{
	out_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		      "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"SPDK\"}}");
}

/* The start of a metadata event about a process. */
static void put_about(struct out *out, uint32_t process)
{
	out_text(out, EVENT("M"));
	out_u64(out, process);
}

void event_process(struct out *out, uint32_t process, struct slice name)
{
	put_about(out, process);
	out_text(out, ",\"name\":\"process_name\",\"args\":{\"name\":\"");
	out_slice(out, name);
	out_text(out, "\"}}");
}

void event_close(struct out *out)
{
	out_text(out, "\n]}\n");
}

/* The start of a metadata event about an lcore's track. */
static void put_about_track(struct out *out, const char *name, uint32_t process, uint32_t lcore)
{
	put_about(out, process);
	out_text(out, name);
	out_text(out, ",\"tid\":");
	out_u64(out, thread_of(lcore));
	out_text(out, ",\"args\":{");
}

void event_track(struct out *out, uint32_t process, uint32_t lcore, struct slice name)
{
	put_about_track(out, ",\"name\":\"thread_name\"", process, lcore);
	out_text(out, "\"name\":\"");
	out_slice(out, name);
	out_text(out, "\"}}");
	put_about_track(out, ",\"name\":\"thread_sort_index\"", process, lcore);
	out_text(out, "\"sort_index\":");
	out_u64(out, lcore);
	out_text(out, "}}");
}

void event_instant(struct out *out, const struct event_at *at, struct slice name, struct slice args)
{
	char *to = out_room(out, ROOM + name.n + args.n);

	to = put_at(PUT(to, EVENT("i")), at);
	close_event(out, PUT(to, ",\"s\":\"t\",\"name\":\""), name, args);
}

void event_slice(struct out *out, const struct event_at *at, uint64_t ns, struct slice name, struct slice args)
{
	char *to = out_room(out, ROOM + name.n + args.n);

	to = PUT(to, EVENT("X"));
	to = put(to, (struct slice){at->text, at->time_n});
	to = digits_us(PUT(to, ",\"dur\":"), ns);
	to = put(to, slice_between(at->text + at->time_n, at->text + at->n));
	close_event(out, PUT(to, ",\"name\":\""), name, args);
}

void event_entry(struct out *out, const struct event_at *at, struct slice name, struct slice args)
{
	event_slice(out, at, 1, name, args);
}

static inline void put_slice(struct out *out, char *to, const struct event_at *at, const struct event_id *id,
			     struct slice name, struct slice args)
{
	close_event(out, put_id(put_at(to, at), id), name, args);
}

void event_begin(struct out *out, const struct event_at *at, const struct event_id *id, struct slice name,
		 struct slice args)
{
	put_slice(out, PUT(out_room(out, ROOM + name.n + args.n), EVENT("b")), at, id, name, args);
}

void event_end(struct out *out, const struct event_at *at, const struct event_id *id, struct slice name)
{
	put_slice(out, PUT(out_room(out, ROOM + name.n), EVENT("e")), at, id, name, (struct slice){});
}

static char *put_arrow(char *to, const struct event_at *at, uint64_t number)
{
	return digits_u64(PUT(put_at(to, at), ",\"cat\":\"related\",\"name\":\"related\",\"id\":"), number);
}

void event_arrow_from(struct out *out, const struct event_at *at, uint64_t number)
{
	char *to = put_arrow(PUT(out_room(out, ROOM), EVENT("s")), at, number);

	*to++ = '}';
	out_commit(out, to);
}

void event_arrow_to(struct out *out, const struct event_at *at, uint64_t number)
{
	char *to = put_arrow(PUT(out_room(out, ROOM), EVENT("f")), at, number);

	/* to the slice at that time, not to the next one */
	out_commit(out, PUT(to, ",\"bp\":\"e\"}"));
}

void event_depth(struct out *out, const struct event_at *at, struct slice letter, struct slice family, uint64_t depth)
{
	char *to = out_room(out, ROOM);

	/* one counter for all processes, so only the time of this one is written */
	to = digits_u64(PUT(to, EVENT("C")), EVENT_PROCESS);
	to = put(to, slice_between(at->text + at->process_n, at->text + at->time_n));
	to = put(PUT(to, ",\"name\":\""), letter);
	to = PUT(put_family(to, family), " in work\",\"args\":{\"objects\":");
	out_commit(out, PUT(digits_u64(to, depth), "}}"));
}
