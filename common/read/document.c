/* SPDX-License-Identifier: BSD-3-Clause */
#include "document.h"

#include <stdlib.h>

#include "input.h"
#include "mem.h"
#include "number.h"

enum {
	IDS = 1 << 16, /* of tracepoints */
	LCORES = 8192, /* the most CPUs that Linux supports */

	/* bytes of an entry, or of another part of the document that is read at once */
	UNIT_MAX = 64 << 20,
	/* bytes that distinguish text from a trace file, which has zeros among its first 8 */
	TEXT_MIN = 256,
	/* bytes before the document */
	STRAY_MAX = INPUT_START,
};

bool document_is_text(const struct input *in)
{
	size_t n = in->size < TEXT_MIN ? in->size : TEXT_MIN;

	for (size_t i = 0; i < n; i++)
		if (in->data[i] < 0x20 && !(in->data[i] >= '\t' && in->data[i] <= '\r'))
			return false;
	return n;
}

static bool fail(struct document *d, const char *error)
{
	if (!d->error) {
		d->error = error;
		d->position = d->in->consumed + (d->j.p - (const char *)d->in->data);
	}
	return false;
}

/* Fails with the error of the JSON reader, which more input cannot resolve. */
static bool json_failed(struct document *d)
{
	return fail(d, d->j.cut_off ? "the document is cut off" : d->j.error);
}

/*
 * To be called after a unit of the document was read from `start` on. If the text ended within it,
 * adds more input. Returns whether the unit must be read again.
 */
static bool must_reread(struct document *d, struct json start)
{
	struct input *in = d->in;
	size_t n = d->j.end - start.p;

	if (!d->j.cut_off || in->whole)
		return false;
	input_consume(in, start.p - (const char *)in->data);
	input_fill(in, 2 * n + INPUT_START);
	if (n > UNIT_MAX || in->error) {
		d->j.error = in->error ? strerror(in->error) : "an entry of more than 64 MiB";
		d->j.cut_off = false;
		/* the input has moved */
		d->j.p = (const char *)in->data;
		return false;
	}
	d->j = start;
	d->j.p = (const char *)in->data;
	d->j.end = d->j.p + in->size;
	return true;
}

static void read_name(struct json *j, char *name, size_t size)
{
	struct slice raw;

	if (json_string(j, &raw) && raw.n < size)
		name[json_unescape(name, raw)] = 0;
	else
		json_fail(j, "a name that is longer than SPDK's can be");
}

static void read_arg(struct json *j, struct trace_arg *arg)
{
	struct slice key;
	uint64_t v = 0;

	for (json_object(j); json_key(j, &key);) {
		if (json_is(key, "name")) {
			read_name(j, arg->name, sizeof(arg->name));
		} else if (json_is(key, "type")) {
			if (json_u64(j, &v) && v > TRACE_STR)
				json_fail(j, "a type from 0 to 2 is expected");
			arg->type = v;
		} else if (json_is(key, "size")) {
			if (json_u64(j, &v) && v > 255)
				json_fail(j, "a size of 255 at most is expected");
			arg->size = v;
		} else {
			json_skip(j);
		}
	}
}

static void add_tpoint(struct trace *t, const struct trace_tpoint *tp)
{
	unsigned n = t->num_tpoints ? t->num_tpoints : 1024;

	while (n <= tp->id)
		n *= 2;
	if (n > t->num_tpoints) {
		t->tpoints = mem_resize(t->tpoints, n, sizeof(*t->tpoints));
		memset(t->tpoints + t->num_tpoints, 0, (n - t->num_tpoints) * sizeof(*t->tpoints));
		t->num_tpoints = n;
	}
	t->tpoints[tp->id] = *tp;
}

static void read_args(struct json *j, struct trace_tpoint *tp)
{
	for (json_array(j); json_element(j);) {
		if (tp->num_args == TRACE_ARGS)
			json_fail(j, "a tracepoint with more than 8 arguments");
		else
			read_arg(j, &tp->args[tp->num_args++]);
	}
}

static void read_tpoint(struct json *j, struct trace *t)
{
	struct trace_tpoint tp = {};
	struct slice key;
	uint64_t id = IDS;

	for (json_object(j); json_key(j, &key);) {
		if (json_is(key, "name")) {
			read_name(j, tp.name, sizeof(tp.name));
		} else if (json_is(key, "id")) {
			json_u64(j, &id);
		} else if (json_is(key, "new_object")) {
			json_bool(j, &tp.new_object);
		} else if (json_is(key, "args")) {
			read_args(j, &tp);
		} else {
			json_skip(j);
		}
	}
	tp.id = id;
	if (id >= IDS || !tp.name[0])
		json_fail(j, "a tracepoint with a name and an id below 65536 is expected");
	else if (!j->error)
		add_tpoint(t, &tp);
}

/* Reads a member of the document. False at its end. */
static bool read_member(struct document *d)
{
	struct json *j = &d->j;
	struct slice key, owners;

	if (!json_key(j, &key))
		return false;
	if (json_is(key, "tsc_rate")) {
		if (json_u64(j, &d->trace->tsc_rate) && !d->trace->tsc_rate)
			json_fail(j, "a tsc_rate above 0 is expected");
	} else if (json_is(key, "tpoints")) {
		if (d->defined)
			return json_fail(j, "tracepoints after the entries");
		for (json_array(j); json_element(j);)
			read_tpoint(j, d->trace);
	} else if (json_is(key, "owners")) {
		if (json_peek(j) != '{' || !json_value(j, &owners))
			return json_fail(j, "an object is expected");
		free(d->owners);
		d->owners = mem_copy(owners);
		d->trace->owner_descriptions = true;
	} else if (json_is(key, "entries")) {
		d->in_entries = d->defined = json_array(j);
	} else {
		json_skip(j);
	}
	return !j->error;
}

/* Reads members up to the entries. False at the document's end, or with an error. */
static bool read_members(struct document *d)
{
	struct json start;
	bool more;

	do {
		do {
			start = d->j;
			more = read_member(d);
		} while (must_reread(d, start));
	} while (more && !d->in_entries);
	if (d->j.error)
		json_failed(d);
	return d->in_entries && !d->error;
}

int document_open(struct document *d, struct trace *t, struct input *in)
{
	const char *brace = memchr(in->data, '{', in->size < STRAY_MAX ? in->size : STRAY_MAX);

	*d = (struct document){.in = in, .trace = t, .plain_owner.fd = OUT_MEMORY, .owner.fd = OUT_MEMORY};
	for (unsigned i = 0; i < TRACE_ARGS; i++)
		d->strings[i].fd = OUT_MEMORY;
	*t = (struct trace){.layout = "JSON",
			    .releases = "what spdk_trace -j prints",
			    .num_lcores = LCORES,
			    .lcores = mem_array(LCORES, sizeof(*t->lcores))};
	json_init(&d->j, (const char *)in->data, in->size);
	if (!brace) {
		fail(d, "neither an SPDK trace file nor the JSON of spdk_trace -j");
		return -1;
	}
	d->j.p = brace;
	json_object(&d->j);
	if (!read_members(d))
		fail(d, "no entries in this JSON: it is not what spdk_trace -j prints");
	else if (!t->tsc_rate || !t->num_tpoints)
		fail(d, "no tsc_rate or no tpoints before the entries: not what spdk_trace -j prints");
	return d->error ? -1 : 0;
}

/* One entry as it is in the document. */
struct raw_entry {
	uint64_t lcore, tpoint, tsc, size, time, value;
	bool has_object, has_time;
	struct slice poller, owner, id, related, args; /* p is NULL without */
};

static void read_object(struct json *j, struct raw_entry *raw)
{
	struct slice key;

	raw->has_object = true;
	for (json_object(j); json_key(j, &key);) {
		if (json_is(key, "id"))
			json_string(j, &raw->id);
		else if (json_is(key, "time"))
			raw->has_time = json_u64(j, &raw->time);
		else if (json_is(key, "value"))
			json_u64(j, &raw->value);
		else
			json_skip(j);
	}
}

static void read_raw_entry(struct json *j, struct raw_entry *raw)
{
	struct slice key;

	*raw = (struct raw_entry){.lcore = LCORES, .tpoint = IDS};
	for (json_object(j); json_key(j, &key);) {
		if (json_is(key, "lcore"))
			json_u64(j, &raw->lcore);
		else if (json_is(key, "tpoint"))
			json_u64(j, &raw->tpoint);
		else if (json_is(key, "tsc"))
			json_u64(j, &raw->tsc);
		else if (json_is(key, "poller"))
			json_string(j, &raw->poller);
		else if (json_is(key, "owner"))
			json_string(j, &raw->owner);
		else if (json_is(key, "size"))
			json_u64(j, &raw->size);
		else if (json_is(key, "object"))
			read_object(j, raw);
		else if (json_is(key, "related"))
			json_string(j, &raw->related);
		else if (json_is(key, "args"))
			json_value(j, &raw->args);
		else
			json_skip(j);
	}
	if (raw->lcore >= LCORES || raw->tpoint >= IDS || raw->size > UINT32_MAX)
		json_fail(j, "an entry without lcore and tpoint, or with numbers out of range");
}

/* Splits an id like r12 into its type's character and its number. */
static bool split_id(struct slice raw, char *prefix, uint64_t *number)
{
	char id[64];
	size_t n;

	if (raw.n > sizeof(id))
		return false;
	n = json_unescape(id, raw);
	*prefix = n && (id[0] < '0' || id[0] > '9') ? id[0] : 0;
	return number_decimal((struct slice){id + !!*prefix, n - !!*prefix}, number);
}

/* Decodes a raw string into o, replacing its contents. */
static struct slice decode(struct out *o, struct slice raw)
{
	char *to;

	o->len = 0;
	to = out_room(o, raw.n + 1);
	return (struct slice){to, json_unescape(to, raw)};
}

/* The arguments up to the first one that spdk_trace could not read, which v21.07 prints as null. */
static void read_values(struct json *j, struct entry *e, struct out *strings)
{
	struct slice raw;

	for (json_array(j); json_element(j);) {
		unsigned i = e->num_args;

		if (json_peek(j) == 'n' || e->torn) {
			json_skip(j);
			e->torn = true;
			continue;
		}
		if (i == e->tpoint->num_args) {
			json_fail(j, "more arguments than the tracepoint has");
			return;
		}
		if (e->tpoint->args[i].type != TRACE_STR) {
			json_u64(j, &e->value[i]);
		} else if (json_string(j, &raw)) {
			e->string[i] = decode(&strings[i], raw);
			if (e->string[i].n > e->tpoint->args[i].size)
				json_fail(j, "a string longer than its argument");
		}
		e->num_args += !j->error;
	}
}

/* Returns the owner as a JSON string with this tool's escapes; those of spdk_trace may differ. */
static struct slice read_owner(struct document *d, struct slice raw)
{
	d->owner.len = 0;
	out_json(&d->owner, decode(&d->plain_owner, raw));
	return out_contents(&d->owner);
}

static bool fill_entry(struct document *d, const struct raw_entry *raw, struct entry *e)
{
	struct trace *t = d->trace;
	struct json args;

	*e = (struct entry){.tsc = raw->tsc,
			    .tpoint_id = raw->tpoint,
			    .tpoint = trace_tpoint(t, raw->tpoint),
			    .lcore = raw->lcore,
			    .size = raw->size,
			    .object_value = raw->value,
			    .object_age = raw->time};
	t->lcores[raw->lcore].id = raw->lcore;
	if (raw->poller.p && !split_id(raw->poller, &e->poller_prefix, &e->poller))
		return fail(d, "a malformed poller");
	if (t->owner_descriptions && !e->poller)
		e->poller_prefix = 0;
	if (raw->owner.n)
		e->owner = read_owner(d, raw->owner);
	/* the id of an object without a type is empty: its character is a NUL */
	if (raw->has_object)
		e->object = !raw->id.n ? OBJECT_UNTYPED : raw->has_time ? OBJECT_KNOWN : OBJECT_CREATED;
	if (raw->id.n && !split_id(raw->id, &e->object_prefix, &e->object_number))
		return fail(d, "a malformed object id");
	e->related = raw->related.p;
	if (e->related && !split_id(raw->related, &e->related_prefix, &e->related_number))
		return fail(d, "a malformed related id");
	if (raw->args.p) {
		json_init(&args, raw->args.p, raw->args.n);
		read_values(&args, e, d->strings);
		if (args.error)
			return fail(d, args.error);
	}
	return true;
}

/* Whether an object with a member starts at p. */
static bool starts_document(const char *p, const char *end)
{
	for (p++; p < end && *p && strchr(" \t\r\n", *p); p++)
		;
	return p < end && *p == '"';
}

/* Whether another document follows. All other lines are stray lines of spdk_trace. */
static bool is_followed(struct document *d)
{
	struct input *in = d->in;
	const char *p = d->j.p, *end = d->j.end;

	for (;;) {
		const char *brace = memchr(p, '{', end - p);
		bool needs_more = !brace || end - brace < TEXT_MIN;

		if (brace && starts_document(brace, end))
			return true;
		if (!needs_more || (brace && in->whole)) {
			p = brace + 1;
			continue;
		}
		if (in->whole || in->error)
			return false;
		input_consume(in, (brace ? brace : end) - (const char *)in->data);
		input_fill(in, INPUT_START);
		p = (const char *)in->data;
		end = p + in->size;
	}
}

bool document_next(struct document *d, struct entry *e)
{
	struct raw_entry raw;
	struct json start;
	bool more;

	if (!d->in_entries || d->error)
		return false;
	do {
		start = d->j;
		more = json_element(&d->j);
		if (more)
			read_raw_entry(&d->j, &raw);
	} while (must_reread(d, start));
	if (d->j.error)
		return json_failed(d);
	if (!more) {
		d->in_entries = false;
		if (read_members(d))
			fail(d, "a second list of entries");
		else if (!d->error && is_followed(d))
			fail(d, "another document follows, which was not read: give each by itself");
		return false;
	}
	d->entries++;
	return fill_entry(d, &raw, e);
}

void document_close(struct document *d)
{
	free(d->owners);
	out_close(&d->plain_owner);
	out_close(&d->owner);
	for (unsigned i = 0; i < TRACE_ARGS; i++)
		out_close(&d->strings[i]);
}
