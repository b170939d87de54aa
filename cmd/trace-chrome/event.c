/* SPDX-License-Identifier: BSD-3-Clause */
#include "event.h"

#include "digits.h"

static void put_u64(struct out *out, uint64_t v)
{
	out_commit(out, digits_u64(out_room(out, DIGITS_ROOM), v));
}

static void put_us(struct out *out, uint64_t ns)
{
	char *to;

	put_u64(out, ns / 1000);
	to = out_room(out, 4);
	*to++ = '.';
	*to++ = '0' + ns % 1000 / 100;
	*to++ = '0' + ns % 100 / 10;
	*to++ = '0' + ns % 10;
	out_commit(out, to);
}

/* Begins an event; members and a brace follow. Behind event_open() there is always one before it. */
static void put_event(struct out *out, const char *phase, uint64_t ns)
{
	out_text(out, ",\n{\"ph\":\"");
	out_text(out, phase);
	out_text(out, "\",\"pid\":1,\"ts\":");
	put_us(out, ns);
}

static void put_string(struct out *out, const char *key, struct slice text)
{
	out_text(out, ",\"");
	out_text(out, key);
	out_text(out, "\":\"");
	out_slice(out, text);
	out_text(out, "\"");
}

/* Thread 0 of a process has a meaning of its own to some readers. */
static void put_track(struct out *out, uint32_t lcore)
{
	out_text(out, ",\"tid\":");
	put_u64(out, (uint64_t)lcore + 1);
}

static void put_id(struct out *out, struct event_id id)
{
	out_slice(out, id.letter);
	put_u64(out, id.number);
}

/* What a line says besides name, time and lcore, as an event's arguments. */
static void put_args(struct out *out, const struct traceline *line)
{
	const struct {
		const char *key;
		struct slice text;
	} texts[] = {{"object", line->object_id},
		     {"related", line->related},
		     {"poller", line->poller},
		     {"owner", line->owner}};
	const char *separator = "\"";

	out_text(out, ",\"args\":{");
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (!texts[i].text.p)
			continue;
		out_text(out, separator);
		out_text(out, texts[i].key);
		out_text(out, "\":\"");
		out_slice(out, texts[i].text);
		out_text(out, "\"");
		separator = ",\"";
	}
	if (line->size.p) {
		out_text(out, separator);
		out_text(out, "size\":");
		out_slice(out, line->size);
		separator = ",\"";
	}
	for (unsigned i = 0; i < line->num_args; i++, separator = ",\"") {
		out_text(out, separator);
		out_slice(out, line->args[i].key);
		out_text(out, "\":");
		out_slice(out, line->args[i].value);
	}
	out_text(out, "}");
}

void event_open(struct out *out)
{
	out_text(out,
		 "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		 "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"SPDK\"}}");
}

void event_close(struct out *out)
{
	out_text(out, "\n]}\n");
}

void event_track(struct out *out, uint32_t lcore, struct slice thread)
{
	out_text(out, ",\n{\"ph\":\"M\",\"pid\":1,\"name\":\"thread_name\"");
	put_track(out, lcore);
	out_text(out, ",\"args\":{\"name\":\"lcore ");
	put_u64(out, lcore);
	if (thread.n) {
		out_text(out, " ");
		out_slice(out, thread);
	}
	out_text(out, "\"}},\n{\"ph\":\"M\",\"pid\":1,\"name\":\"thread_sort_index\"");
	put_track(out, lcore);
	out_text(out, ",\"args\":{\"sort_index\":");
	put_u64(out, lcore);
	out_text(out, "}}");
}

void event_instant(struct out *out, struct event_at at, const struct traceline *line)
{
	put_event(out, "i", at.ns);
	put_track(out, at.lcore);
	out_text(out, ",\"s\":\"t\"");
	put_string(out, "name", line->tpoint);
	put_args(out, line);
	out_text(out, "}");
}

void event_entry(struct out *out, struct event_at at, const struct traceline *line)
{
	put_event(out, "X", at.ns);
	out_text(out, ",\"dur\":0.001");
	put_track(out, at.lcore);
	put_string(out, "name", line->tpoint);
	put_args(out, line);
	out_text(out, "}");
}

static void put_slice(struct out *out, const char *phase, struct event_at at, struct event_id id,
		      struct slice name)
{
	put_event(out, phase, at.ns);
	put_track(out, at.lcore);
	put_string(out, "cat", id.letter);
	out_text(out, ",\"id\":\"");
	put_id(out, id);
	out_text(out, "\"");
	put_string(out, "name", name);
}

void event_begin(struct out *out, struct event_at at, struct event_id id, struct slice name,
		 const struct traceline *line)
{
	put_slice(out, "b", at, id, name);
	if (line)
		put_args(out, line);
	out_text(out, "}");
}

void event_end(struct out *out, struct event_at at, struct event_id id, struct slice name)
{
	put_slice(out, "e", at, id, name);
	out_text(out, "}");
}

static void put_arrow(struct out *out, const char *phase, struct event_at at, uint64_t number)
{
	put_event(out, phase, at.ns);
	put_track(out, at.lcore);
	out_text(out, ",\"cat\":\"related\",\"name\":\"related\",\"id\":");
	put_u64(out, number);
}

void event_arrow_from(struct out *out, struct event_at at, uint64_t number)
{
	put_arrow(out, "s", at, number);
	out_text(out, "}");
}

void event_arrow_to(struct out *out, struct event_at at, uint64_t number)
{
	/* to the slice at that time, not to the next one */
	put_arrow(out, "f", at, number);
	out_text(out, ",\"bp\":\"e\"}");
}

void event_depth(struct out *out, uint64_t ns, struct slice letter, uint64_t depth)
{
	put_event(out, "C", ns);
	out_text(out, ",\"name\":\"");
	out_slice(out, letter);
	out_text(out, " in work\",\"args\":{\"objects\":");
	put_u64(out, depth);
	out_text(out, "}}");
}
