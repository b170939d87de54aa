/* SPDX-License-Identifier: BSD-3-Clause */
#include "event.h"

#include "digits.h"

/* The start of an event, up to its process. After event_open() there is always one before it. */
#define EVENT(phase) ",\n{\"ph\":\"" phase "\",\"pid\":"

struct event_at event_at(uint64_t ns, uint32_t lcore, uint32_t process)
{
	struct event_at at = {.ns = ns, .lcore = lcore, .process = process};
	char *to = digits_u64(at.text, process);

	to = mempcpy(to, ",\"ts\":", 6);
	to = digits_us(to, ns);
	at.time_n = to - at.text;
	to = mempcpy(to, ",\"tid\":", 7);
	/* thread 0 of a process has a meaning of its own to some readers */
	to = digits_u64(to, (uint64_t)lcore + 1);
	at.n = to - at.text;
	return at;
}

/* Members and a brace follow. */
static inline void put_event(struct out *out, const char *event, const struct event_at *at)
{
	out_text(out, event);
	out_bytes(out, at->text, at->n);
}

static void put_track(struct out *out, const struct event_at *at)
{
	out_bytes(out, at->text + at->time_n, at->n - at->time_n);
}

/* before: the key, up to the opening quote of its string. */
static inline void put_string(struct out *out, const char *before, struct slice text)
{
	out_text(out, before);
	out_utf8(out, text);
	out_char(out, '"');
}

static void put_family(struct out *out, struct event_id id)
{
	if (!id.family.n)
		return;
	out_char(out, ' ');
	out_slice(out, id.family);
}

static void put_id(struct out *out, struct event_id id)
{
	out_utf8(out, id.letter);
	out_u64(out, id.number);
	put_family(out, id);
}

void event_args(struct out *out, const struct traceline *line)
{
	bool comma = false; /* the first one is written without */
	const struct {
		const char *before;
		struct slice text;
	} texts[] = {{",\"object\":\"", line->object_id},
		     {",\"related\":\"", line->related},
		     {",\"poller\":\"", line->poller},
		     {",\"owner\":\"", line->owner}};

	out_char(out, '{');
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].text.p) {
			put_string(out, texts[i].before + !comma, texts[i].text);
			comma = true;
		}
	if (line->size.p) {
		out_text(out, comma ? ",\"size\":" : "\"size\":");
		out_slice(out, line->size);
		comma = true;
	}
	for (size_t i = 0; i < line->num_args; i++) {
		out_text(out, comma ? ",\"" : "\"");
		out_utf8(out, line->args[i].key);
		out_text(out, "\":");
		out_utf8(out, line->args[i].value);
		comma = true;
	}
	out_char(out, '}');
}

void event_open(struct out *out)
{
	out_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		      "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"SPDK\"}}");
}

/* The start of what says something about a process. */
static void put_about(struct out *out, uint32_t process)
{
	out_text(out, EVENT("M"));
	out_u64(out, process);
}

void event_process(struct out *out, uint32_t process, struct slice name)
{
	put_about(out, process);
	out_text(out, ",\"name\":\"process_name\",\"args\":{");
	put_string(out, "\"name\":\"", name);
	out_text(out, "}}");
}

void event_close(struct out *out)
{
	out_text(out, "\n]}\n");
}

void event_track(struct out *out, const struct event_at *at, struct slice thread)
{
	put_about(out, at->process);
	out_text(out, ",\"name\":\"thread_name\"");
	put_track(out, at);
	out_text(out, ",\"args\":{\"name\":\"lcore ");
	out_u64(out, at->lcore);
	if (thread.n) {
		out_text(out, " ");
		out_utf8(out, thread);
	}
	out_text(out, "\"}}");
	put_about(out, at->process);
	out_text(out, ",\"name\":\"thread_sort_index\"");
	put_track(out, at);
	out_text(out, ",\"args\":{\"sort_index\":");
	out_u64(out, at->lcore);
	out_text(out, "}}");
}

/* The end of an event. */
static inline void put_args(struct out *out, struct slice args)
{
	if (args.n) {
		out_text(out, ",\"args\":");
		out_slice(out, args);
	}
	out_char(out, '}');
}

void event_instant(struct out *out, const struct event_at *at, struct slice name, struct slice args)
{
	put_event(out, EVENT("i"), at);
	out_text(out, ",\"s\":\"t\"");
	put_string(out, ",\"name\":\"", name);
	put_args(out, args);
}

void event_slice(struct out *out, const struct event_at *at, uint64_t ns, struct slice name, struct slice args)
{
	out_text(out, EVENT("X"));
	out_bytes(out, at->text, at->time_n);
	out_text(out, ",\"dur\":");
	out_us(out, ns);
	put_track(out, at);
	put_string(out, ",\"name\":\"", name);
	put_args(out, args);
}

void event_entry(struct out *out, const struct event_at *at, struct slice name, struct slice args)
{
	event_slice(out, at, 1, name, args);
}

static void put_slice(struct out *out, const char *event, const struct event_at *at, struct event_id id,
		      struct slice name)
{
	put_event(out, event, at);
	put_string(out, ",\"cat\":\"", id.letter);
	out_text(out, ",\"id\":\"");
	put_id(out, id);
	out_text(out, "\"");
	put_string(out, ",\"name\":\"", name);
}

void event_begin(struct out *out, const struct event_at *at, struct event_id id, struct slice name, struct slice args)
{
	put_slice(out, EVENT("b"), at, id, name);
	put_args(out, args);
}

void event_end(struct out *out, const struct event_at *at, struct event_id id, struct slice name)
{
	put_slice(out, EVENT("e"), at, id, name);
	out_text(out, "}");
}

static void put_arrow(struct out *out, const char *event, const struct event_at *at, uint64_t number)
{
	put_event(out, event, at);
	out_text(out, ",\"cat\":\"related\",\"name\":\"related\",\"id\":");
	out_u64(out, number);
}

void event_arrow_from(struct out *out, const struct event_at *at, uint64_t number)
{
	put_arrow(out, EVENT("s"), at, number);
	out_text(out, "}");
}

void event_arrow_to(struct out *out, const struct event_at *at, uint64_t number)
{
	/* to the slice at that time, not to the next one */
	put_arrow(out, EVENT("f"), at, number);
	out_text(out, ",\"bp\":\"e\"}");
}

void event_depth(struct out *out, uint64_t ns, struct event_id id, uint64_t depth)
{
	struct event_at at = event_at(ns, 0, EVENT_PROCESS);

	out_text(out, EVENT("C"));
	out_bytes(out, at.text, at.time_n);
	out_text(out, ",\"name\":\"");
	out_utf8(out, id.letter);
	put_family(out, id);
	out_text(out, " in work\",\"args\":{\"objects\":");
	out_u64(out, depth);
	out_text(out, "}}");
}
