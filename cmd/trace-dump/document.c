/* SPDX-License-Identifier: BSD-3-Clause */
#include "document.h"

#include <errno.h>
#include <stdlib.h>

#include "number.h"

enum {
	IDS = 1 << 16, /* of tracepoints */
	LCORES = 8192, /* more than Linux has */

	/* bytes of an entry, or of another part of the document that is read at once */
	UNIT_MAX = 64 << 20,
	/* bytes that tell text from a trace file, which has zeros among its first 8 */
	TEXT_MIN = 256,
	/* bytes before the document */
	STRAY_MAX = INPUT_BEGIN,
};

bool json_trace_is_text(const struct input *in)
{
	size_t n = in->size < TEXT_MIN ? in->size : TEXT_MIN;

	for (size_t i = 0; i < n; i++)
		if (in->data[i] < 0x20 && !(in->data[i] >= '\t' && in->data[i] <= '\r'))
			return false;
	return n;
}

static bool fail(struct json_trace *x, const char *error)
{
	if (!x->error) {
		x->error = error;
		x->position = x->in->dropped + (x->j.p - (const char *)x->in->data);
	}
	return false;
}

/* Fails with what the JSON reader says, once no more input can mend it. */
static bool json_failed(struct json_trace *x)
{
	return fail(x, x->j.cut_off ? "the document is cut off" : x->j.error);
}

/*
 * After a unit of the document was read that began at `begin`: whether the text ended within it and there
 * is more now, so that it must be read again.
 */
static bool again(struct json_trace *x, struct json begin)
{
	struct input *in = x->in;
	size_t n = x->j.end - begin.p;

	if (!x->j.cut_off || in->whole)
		return false;
	input_drop(in, begin.p - (const char *)in->data);
	input_need(in, 2 * n + INPUT_BEGIN);
	if (n > UNIT_MAX || in->error) {
		x->j.error = in->error ? strerror(in->error) : "an entry of more than 64 MiB";
		x->j.cut_off = false;
		return false;
	}
	x->j = begin;
	x->j.p = (const char *)in->data;
	x->j.end = x->j.p + in->size;
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

static void add_tpoint(struct json *j, struct trace *t, const struct trace_tpoint *tp)
{
	while (t->num_tpoints <= tp->id) {
		unsigned n = t->num_tpoints ? 2 * t->num_tpoints : 1024;
		struct trace_tpoint *all = reallocarray(t->tpoints, n, sizeof(*all));

		if (!all) {
			json_fail(j, strerror(ENOMEM));
			return;
		}
		memset(all + t->num_tpoints, 0, (n - t->num_tpoints) * sizeof(*all));
		t->tpoints = all;
		t->num_tpoints = n;
	}
	t->tpoints[tp->id] = *tp;
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
			for (json_array(j); json_element(j);) {
				if (tp.num_args == TRACE_ARGS)
					json_fail(j, "a tracepoint with more than 8 arguments");
				else
					read_arg(j, &tp.args[tp.num_args++]);
			}
		} else {
			json_skip(j);
		}
	}
	tp.id = id;
	if (id >= IDS || !tp.name[0])
		json_fail(j, "a tracepoint with a name and an id below 65536 is expected");
	else if (!j->error)
		add_tpoint(j, t, &tp);
}

static bool keep_owners(struct json_trace *x)
{
	struct slice owners;
	char *copy;

	if (json_peek(&x->j) != '{' || !json_value(&x->j, &owners))
		return json_fail(&x->j, "an object is expected");
	copy = malloc(owners.n);
	if (!copy)
		return json_fail(&x->j, strerror(ENOMEM));
	memcpy(copy, owners.p, owners.n);
	free((char *)x->owners.p);
	x->owners = (struct slice){copy, owners.n};
	x->trace->owner_descriptions = true;
	return true;
}

/* Reads a member of the document. False at its end. */
static bool read_member(struct json_trace *x)
{
	struct json *j = &x->j;
	struct slice key;

	if (!json_key(j, &key))
		return false;
	if (json_is(key, "tsc_rate")) {
		if (json_u64(j, &x->trace->tsc_rate) && !x->trace->tsc_rate)
			json_fail(j, "a tsc_rate above 0 is expected");
	} else if (json_is(key, "tpoints")) {
		if (x->defined)
			return json_fail(j, "tracepoints behind the entries");
		for (json_array(j); json_element(j);)
			read_tpoint(j, x->trace);
	} else if (json_is(key, "owners")) {
		keep_owners(x);
	} else if (json_is(key, "entries")) {
		x->in_entries = x->defined = json_array(j);
	} else {
		json_skip(j);
	}
	return !j->error;
}

/* Reads members up to the entries. False at the document's end, or with an error. */
static bool read_members(struct json_trace *x)
{
	struct json begin;
	bool more;

	do {
		do {
			begin = x->j;
			more = read_member(x);
		} while (again(x, begin));
	} while (more && !x->in_entries);
	if (x->j.error)
		json_failed(x);
	return x->in_entries && !x->error;
}

int json_trace_open(struct json_trace *x, struct trace *t, struct input *in)
{
	const char *brace = memchr(in->data, '{', in->size < STRAY_MAX ? in->size : STRAY_MAX);

	*x = (struct json_trace){.in = in, .trace = t};
	*t = (struct trace){.layout = "JSON", .releases = "what spdk_trace -j prints"};
	t->lcores = calloc(LCORES, sizeof(*t->lcores));
	t->num_lcores = LCORES;
	json_init(&x->j, (const char *)in->data, in->size);
	if (!t->lcores)
		return fail(x, strerror(ENOMEM)), -1;
	if (!brace)
		return fail(x, "neither an SPDK trace file nor the JSON of spdk_trace -j"), -1;
	x->j.p = brace;
	json_object(&x->j);
	if (!read_members(x))
		return fail(x, "no entries in this JSON: it is not what spdk_trace -j prints"), -1;
	if (!t->tsc_rate || !t->num_tpoints)
		return fail(x, "no tsc_rate or no tpoints before the entries: not what spdk_trace "
			       "-j prints"),
		       -1;
	return 0;
}

/* One entry as it stands in the document. */
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

/* The arguments up to the first one that spdk_trace could not read, which v21.07 prints as null. */
static void read_values(struct json *j, struct entry *e, char **text)
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
			e->string[i] = (struct slice){*text, json_unescape(*text, raw)};
			*text += e->string[i].n;
			if (e->string[i].n > e->tpoint->args[i].size)
				json_fail(j, "a string longer than its argument");
		}
		e->num_args += !j->error;
	}
}

static bool fill_entry(struct json_trace *x, const struct raw_entry *raw, struct entry *e)
{
	struct trace *t = x->trace;
	char *text = x->text;
	struct json args;

	*e = (struct entry){.tsc = raw->tsc,
			    .tpoint = entry_tpoint(t, raw->tpoint),
			    .lcore = raw->lcore,
			    .size = raw->size,
			    .object_value = raw->value,
			    .object_age = raw->time};
	t->lcores[raw->lcore].id = raw->lcore;
	if (raw->poller.p && !split_id(raw->poller, &e->poller_prefix, &e->poller))
		return fail(x, "a malformed poller");
	if (t->owner_descriptions && !e->poller)
		e->poller_prefix = 0;
	if (raw->owner.n) {
		struct slice owner = {text, json_unescape(text, raw->owner)};

		text += owner.n;
		e->owner = (struct slice){text, json_quote(text, owner) - text};
		text += e->owner.n;
	}
	/* an id is empty where an object has no type: its character is a NUL then */
	if (raw->has_object)
		e->object = !raw->id.n      ? OBJECT_UNTYPED
			    : raw->has_time ? OBJECT_KNOWN
					    : OBJECT_CREATED;
	if (raw->id.n && !split_id(raw->id, &e->object_prefix, &e->object_number))
		return fail(x, "a malformed object id");
	e->related = raw->related.p;
	if (e->related && !split_id(raw->related, &e->related_prefix, &e->related_number))
		return fail(x, "a malformed related id");
	if (raw->args.p) {
		json_init(&args, raw->args.p, raw->args.n);
		read_values(&args, e, &text);
		if (args.error)
			return fail(x, args.error);
	}
	return true;
}

bool json_trace_next(struct json_trace *x, struct entry *e)
{
	struct raw_entry raw;
	struct json begin;
	size_t need;
	bool more;

	if (!x->in_entries || x->error)
		return false;
	do {
		begin = x->j;
		more = json_element(&x->j);
		if (more)
			read_raw_entry(&x->j, &raw);
	} while (again(x, begin));
	if (x->j.error)
		return json_failed(x);
	if (!more) {
		x->in_entries = false;
		if (read_members(x))
			fail(x, "a second list of entries");
		return false;
	}
	/* decoded strings are no longer than written ones; an owner is quoted anew */
	need = JSON_QUOTED(raw.owner.n) + (x->j.p - begin.p);
	if (x->text_size < need) {
		free(x->text);
		x->text = malloc(need);
		x->text_size = need;
		if (!x->text)
			return fail(x, strerror(ENOMEM));
	}
	x->entries++;
	return fill_entry(x, &raw, e);
}

void json_trace_close(struct json_trace *x)
{
	free((char *)x->owners.p);
	free(x->text);
	*x = (struct json_trace){};
}
