/* SPDX-License-Identifier: BSD-3-Clause */
#include "spanline.h"

#include <stdlib.h>

#include "count.h"
#include "json.h"
#include "mem.h"
#include "traceline.h"

void spanline_clear(struct spanline *l)
{
	*l = (struct spanline){.names = l->names, .cap_names = l->cap_names};
}

struct spanline_name *spanline_add_name(struct spanline *l, struct spanline_names *names)
{
	if (!names->n++)
		names->first = l->num_names;
	l->names = mem_room(l->names, l->num_names, &l->cap_names);
	l->names[l->num_names] = (struct spanline_name){};
	return &l->names[l->num_names++];
}

/* In JSON, a slash with a backslash before it is one character. */
struct slice spanline_host(struct slice connection)
{
	for (size_t i = connection.n; i > 1; i--)
		if (connection.p[i - 1] == '/' && connection.p[i - 2] != '\\')
			return (struct slice){connection.p, i - 1};
	return connection;
}

static bool read_ns(struct json *j, uint64_t *ns)
{
	struct slice raw;
	const char *error;

	if (!json_number(j, &raw))
		return false;
	error = traceline_ns(raw, ns);
	return !error || json_fail(j, error);
}

/* An integer, or a string that stands for one that is not known. */
static bool read_number(struct json *j, uint64_t *number, bool *has)
{
	if (json_peek(j) != '0')
		return json_skip(j);
	*has = json_u64(j, number);
	return *has;
}

static void read_string(struct json *j, struct slice *raw)
{
	if (json_peek(j) == '"')
		json_string(j, raw);
	else
		json_value(j, raw);
}

static bool is_text(enum request_io_key key)
{
	return key == REQUEST_IO_TYPE || key == REQUEST_IO_BDEV || key == REQUEST_IO_LEG || key == REQUEST_IO_STATUS;
}

static enum request_io_key io_key(struct slice name)
{
	enum request_io_key key = 0;

	while (key < REQUEST_IO_KEYS && !slice_is(name, request_io_keys[key]))
		key++;
	return key;
}

static void read_io(struct json *j, struct spanline *l)
{
	struct slice name;

	for (json_object(j); json_key(j, &name);) {
		enum request_io_key key = io_key(name);
		bool has = false;

		if (key == REQUEST_IO_KEYS)
			json_skip(j);
		else if (is_text(key))
			read_string(j, &l->io.texts[key]);
		else if (read_number(j, &l->io.numbers[key], &has) && has)
			l->io.has |= 1U << key;
	}
}

/* The first state that is not null. */
static void read_states(struct json *j, struct spanline *l)
{
	for (json_array(j); json_element(j);) {
		if (!json_array(j) || !json_element(j))
			continue;
		if (!l->state.n && json_peek(j) == '"')
			json_string(j, &l->state);
		else
			json_skip(j);
		while (json_element(j))
			json_skip(j);
	}
}

/* The layer of this name; names come in the order of the table. */
static enum layer layer_of(struct slice name, enum layer expected)
{
	enum layer layer = 0;

	if (expected < LAYERS && slice_is(name, spdk_layers[expected]))
		return expected;
	while (layer < LAYERS && !slice_is(name, spdk_layers[layer]))
		layer++;
	return layer;
}

static void read_layers(struct json *j, struct spanline *l)
{
	enum layer layer = 0;
	struct slice key;

	for (json_object(j); json_key(j, &key); layer++) {
		layer = layer_of(key, layer);
		if (layer < LAYERS)
			read_ns(j, &l->layers[layer]);
		else
			json_skip(j);
	}
}

static void read_covered(struct json *j, struct spanline *l)
{
	struct slice name;

	for (json_array(j); json_element(j);)
		if (json_string(j, &name))
			for (unsigned i = 0; i < OVERLAPS; i++)
				l->covered[i] |= slice_is(name, overlaps_name(i));
}

/* An object of times by name; of arrays, with a number of entries and their time. */
static void read_names(struct json *j, struct spanline *l, struct spanline_names *names)
{
	struct slice key;

	for (json_object(j); json_key(j, &key);) {
		struct spanline_name *name;

		if (names->n == SPANLINE_NAMES) {
			json_skip(j);
			continue;
		}
		name = spanline_add_name(l, names);
		name->name = key;
		if (json_peek(j) != '[') {
			read_ns(j, &name->ns);
			continue;
		}
		if (!json_array(j) || !json_element(j) || !json_u64(j, &name->n))
			return;
		if (json_element(j))
			read_ns(j, &name->ns);
		while (json_element(j))
			json_skip(j);
	}
}

static void read_holders(struct json *j, struct spanline_wait *w)
{
	struct slice key;

	for (json_object(j); json_key(j, &key);)
		if (!w->holder.n && json_u64(j, &w->held))
			w->holder = key;
		else
			json_skip(j);
}

static void read_wait(struct json *j, struct spanline *l, struct spanline_wait *w)
{
	struct slice key, name;

	*w = (struct spanline_wait){.layer = LAYERS, .active = UINT64_MAX};
	for (json_object(j); json_key(j, &key);)
		if (slice_is(key, "us"))
			read_ns(j, &w->ns);
		else if (slice_is(key, "at"))
			read_ns(j, &w->at);
		else if (slice_is(key, "layer") && json_string(j, &name))
			w->layer = layer_of(name, 0);
		else if (slice_is(key, "lcore"))
			w->has_lcore = json_u64(j, &w->lcore);
		else if (slice_is(key, "silent"))
			read_ns(j, &w->silent);
		else if (slice_is(key, "rare"))
			json_bool(j, &w->is_rare);
		else if (slice_is(key, "active"))
			read_ns(j, &w->active);
		else if (slice_is(key, "lost"))
			json_bool(j, &w->lost);
		else if (slice_is(key, "of"))
			read_names(j, l, &w->of);
		else if (slice_is(key, "hosts"))
			read_names(j, l, &w->hosts);
		else if (slice_is(key, "buffers"))
			json_u64(j, &w->buffers);
		else if (slice_is(key, "holders"))
			read_holders(j, w);
		else {
			w->is_queued |= slice_is(key, "queued");
			json_skip(j);
		}
}

static void read_waits(struct json *j, struct spanline *l)
{
	for (json_array(j); json_element(j);)
		if (l->num_waits < SPANLINE_WAITS)
			read_wait(j, l, &l->waits[l->num_waits++]);
		else
			json_skip(j);
}

/* How values are written, and read. Unless "always", one that is 0 or empty is left out. */
enum key_kind {
	U64, /* always */
	US,  /* always */
	U64_IF,
	US_IF,
	HEX, /* always */
	STRING,
	TRUE,
	RAW,  /* JSON */
	TREE, /* JSON about what is below it */
	STATES,
	PARENT,
	IO,
	LAYERS_OF,
	BY,
	COVERED,
	WAITS,
	PROVEN /* stands for the names of these facts */
};

/* In the order of a span line. */
static const struct key {
	const char *name;
	enum key_kind kind;
	size_t offset;
	bool unread; /* explains no requests */
} keys[] = {
#define AT(member) offsetof(struct spanline, member)
	{"tsc", U64, AT(tsc), true},
	{"us", US, AT(start), false},
	{"life", US, AT(life), false},
	{"to_reply", US, AT(to_reply), false},
	{"source", STRING, AT(source), false},
	{"lcore", U64, AT(lcore), false},
	{"id", STRING, AT(id), false},
	{"value", HEX, AT(value), true},
	{"parent", PARENT, AT(parent), false},
	{"children", TREE, AT(children), true},
	{"remote", TREE, AT(remote), true},
	{"owner", STRING, AT(owner), true},
	{"poller", STRING, AT(poller), true},
	{"connection", STRING, AT(connection), false},
	{"host", STRING, AT(host), true},
	{"queue", RAW, AT(queue), true},
	{"io", IO, 0, false},
	{"states", STATES, AT(states), false},
	{"self", TREE, AT(self), true},
	{"layers", LAYERS_OF, 0, false},
	{"off_cpu", US_IF, AT(facts[FACT_OFF_CPU]), false},
	{"irq", US_IF, AT(facts[FACT_IRQ]), false},
	{"off_cpu_by", BY, AT(off_cpu_by), false},
	{"irq_by", BY, AT(irq_by), false},
	{"unread", US_IF, AT(unread), false},
	{"unread_by", STRING, AT(unread_by), false},
	{"unread_for", STRING, AT(unread_for), false},
	{"behind", STRING, AT(behind), false},
	{"disk", US_IF, AT(facts[FACT_DISK]), false},
	{"covered", COVERED, 0, false},
	{"silent", US_IF, AT(silent.ns), true},
	{"waits", WAITS, 0, false},
	{NULL, PROVEN, 0, false},
	{"retries", U64_IF, AT(retries), true},
	{"full_queue", U64_IF, AT(full_queue), false},
	{"args", RAW, AT(args), false},
	{"admin", TRUE, AT(admin), false},
	{"maybe_admin", TRUE, AT(maybe_admin), false},
	{"open", TRUE, AT(open), false},
	{"cut", TRUE, AT(cut), false},
	{"torn", TRUE, AT(torn), false},
	{"lost", TRUE, AT(lost), false},
#undef AT
};

static enum fact proven_of(struct slice name)
{
	for (unsigned i = 0; i < FACTS_PROVEN; i++)
		if (json_is(name, fact_table[fact_proven[i]].name))
			return fact_proven[i];
	return FACTS;
}

/* The key's number; expected: the one that comes next as a rule. */
static size_t find_key(struct slice name, size_t expected)
{
	for (size_t i = expected; i < COUNT(keys); i++)
		if (keys[i].name && slice_is(name, keys[i].name))
			return i;
	for (size_t i = 0; i < expected; i++)
		if (keys[i].name && json_is(name, keys[i].name))
			return i;
	for (size_t i = 0; i < COUNT(keys) && proven_of(name) != FACTS; i++)
		if (keys[i].kind == PROVEN)
			return i;
	return COUNT(keys);
}

static void read_value(struct json *j, struct spanline *l, const struct key *key, struct slice name)
{
	void *member = (char *)l + key->offset;
	bool has;

	switch (key->unread ? TREE : key->kind) {
	case US:
	case US_IF:
		read_ns(j, member);
		break;
	case U64:
	case U64_IF:
		read_number(j, member, &has);
		break;
	case STRING:
	case PARENT:
		json_string(j, member);
		break;
	case TRUE:
		json_bool(j, member);
		break;
	case IO:
		read_io(j, l);
		break;
	case STATES:
		read_states(j, l);
		break;
	case LAYERS_OF:
		read_layers(j, l);
		break;
	case COVERED:
		read_covered(j, l);
		break;
	case BY:
		read_names(j, l, member);
		break;
	case WAITS:
		read_waits(j, l);
		break;
	case PROVEN:
		read_ns(j, &l->facts[proven_of(name)]);
		break;
	case RAW:
		json_value(j, member);
		break;
	case HEX:
	case TREE:
		json_skip(j);
	}
}

/* What is wrong with the times, which are to add up exactly, and with their layers. */
static const char *check(const struct spanline *l, bool has_life)
{
	uint64_t sum = 0;

	if (!has_life)
		return "life is missing";
	for (unsigned i = 0; i < l->num_waits; i++)
		if (l->waits[i].layer == LAYERS)
			return "a wait is in no layer, or in one that is not known";
	for (unsigned i = 0; i < LAYERS; i++)
		if (l->layers[i] > l->life || __builtin_add_overflow(sum, l->layers[i], &sum))
			return "a layer is longer than the life";
	return sum == l->life ? NULL : "its layers are not its life";
}

const char *spanline_parse(struct spanline *l, struct slice line)
{
	struct slice name;
	bool has_life = false;
	size_t next = 0;
	struct json j;

	spanline_clear(l);
	json_init(&j, line.p, line.n);
	for (json_object(&j); json_key(&j, &name);) {
		size_t i = find_key(name, next);

		if (i == COUNT(keys)) {
			json_skip(&j);
			continue;
		}
		has_life |= slice_is(name, "life");
		read_value(&j, l, &keys[i], name);
		l->has_parent = keys[i].kind == PARENT && !j.error;
		if (l->has_parent)
			return NULL;
		next = i + 1;
	}
	if (!json_end(&j))
		return j.error;
	return check(l, has_life);
}

/* raw: as written in JSON. */
static void put_string(struct out *out, struct slice raw)
{
	out_char(out, '"');
	out_slice(out, raw);
	out_char(out, '"');
}

/* Writes a key of an object, with a comma unless it is the first one. */
static void put_key(struct out *out, const char *key)
{
	out_text(out, out->buf[out->len - 1] == '{' ? "\"" : ",\"");
	out_text(out, key);
	out_text(out, "\":");
}

/* Literals cost no call. */
static inline void put_number(struct out *out, const char *before, uint64_t number)
{
	out_text(out, before);
	out_u64(out, number);
}

static inline void put_us(struct out *out, const char *before, uint64_t ns)
{
	out_text(out, before);
	out_us(out, ns);
}

static bool write_io_key(struct out *out, const struct spanline *l, enum request_io_key key)
{
	if (spanline_has(l, key))
		out_u64(out, l->io.numbers[key]);
	else if (l->io.texts[key].n)
		put_string(out, l->io.texts[key]);
	else
		return false;
	return true;
}

static bool write_io(struct out *out, const struct spanline *l)
{
	size_t start = out->len;

	out_char(out, '{');
	for (enum request_io_key key = 0; key < REQUEST_IO_KEYS; key++) {
		size_t before = out->len;

		put_key(out, request_io_keys[key]);
		if (!write_io_key(out, l, key))
			out->len = before;
	}
	out_char(out, '}');
	return out->len > start + strlen("{}");
}

static void write_layers(struct out *out, const struct spanline *l)
{
	for (unsigned i = 0; i < LAYERS; i++) {
		out_text(out, i ? ",\"" : "{\"");
		out_text(out, spdk_layers[i]);
		put_us(out, "\":", l->layers[i]);
	}
	out_char(out, '}');
}

/* The names of the parts that are known for the whole life; for irq, off_cpu says it. */
static bool write_covered(struct out *out, const struct spanline *l)
{
	const char *separator = "[";

	for (unsigned i = 0; i < OVERLAPS; i++) {
		if (!l->covered[i] || i == OVERLAP_IRQ)
			continue;
		out_text(out, separator);
		put_string(out, slice_of(overlaps_name(i)));
		separator = ",";
	}
	out_char(out, ']');
	return *separator == ',';
}

static bool write_by(struct out *out, const struct spanline *l, const struct spanline_names *names)
{
	for (unsigned i = 0; i < names->n; i++) {
		out_char(out, i ? ',' : '{');
		put_string(out, l->names[names->first + i].name);
		put_us(out, ":", l->names[names->first + i].ns);
	}
	out_char(out, '}');
	return names->n;
}

/* For whom an lcore wrote. */
static void put_names(struct out *out, const struct spanline *l, const char *before, const struct spanline_names *names)
{
	for (unsigned i = 0; i < names->n; i++) {
		const struct spanline_name *name = &l->names[names->first + i];

		out_text(out, i ? "," : before);
		put_string(out, name->name);
		put_number(out, ":[", name->n);
		put_us(out, ",", name->ns);
		if (name->members)
			put_number(out, ",", name->members);
		out_char(out, ']');
	}
	out_text(out, names->n ? "}" : "");
}

static void put_lcore(struct out *out, const struct spanline *l, const struct spanline_wait *w)
{
	put_number(out, ",\"lcore\":", w->lcore);
	put_number(out, ",\"entries\":", w->entries);
	if (w->kept < w->entries)
		put_number(out, ",\"kept\":", w->kept);
	put_us(out, ",\"silent\":", w->silent);
	out_text(out, w->is_rare ? ",\"rare\":true" : "");
	if (w->active < UINT64_MAX)
		put_us(out, ",\"active\":", w->active);
	out_text(out, w->lost ? ",\"lost\":true" : "");
	put_names(out, l, ",\"of\":{", &w->of);
	put_names(out, l, ",\"hosts\":{", &w->hosts);
}

static void put_wait(struct out *out, const struct spanline *l, const struct spanline_wait *w)
{
	put_us(out, "{\"us\":", w->ns);
	if (w->has_lcore)
		put_us(out, ",\"at\":", w->at);
	if (w->state.p) {
		out_text(out, ",\"state\":");
		put_string(out, w->state);
	}
	out_text(out, ",\"layer\":");
	put_string(out, slice_of(spdk_layers[w->layer]));
	if (w->has_lcore)
		put_lcore(out, l, w);
	if (w->is_buffer)
		put_number(out, ",\"others\":", w->others);
	if (w->is_queued)
		put_number(out, ",\"queued\":", w->others);
	if (w->held) {
		put_number(out, ",\"buffers\":", w->buffers);
		out_text(out, ",\"holders\":{");
		put_string(out, w->holder);
		put_number(out, ":", w->held);
		out_char(out, '}');
	}
	out_char(out, '}');
}

static bool write_waits(struct out *out, const struct spanline *l)
{
	for (unsigned i = 0; i < l->num_waits; i++) {
		out_char(out, i ? ',' : '[');
		put_wait(out, l, &l->waits[i]);
	}
	out_char(out, ']');
	return l->num_waits;
}

/* Returns false if it has none; then what was written is of no use. */
static bool write_value(struct out *out, const struct spanline *l, const struct key *key)
{
	const void *member = (const char *)l + key->offset;
	const uint64_t *number = member;
	const struct slice *text = member;

	switch (key->kind) {
	case U64:
	case U64_IF:
		out_u64(out, *number);
		return key->kind == U64 || *number;
	case US:
	case US_IF:
		out_us(out, *number);
		return key->kind == US || *number;
	case HEX:
		out_char(out, '"');
		out_hex(out, *number);
		out_char(out, '"');
		return true;
	case STRING:
	case PARENT:
		put_string(out, *text);
		return text->n;
	case TRUE:
		out_text(out, "true");
		return *(const bool *)member;
	case RAW:
	case TREE:
	case STATES:
		out_slice(out, *text);
		return text->n;
	case IO:
		return write_io(out, l);
	case LAYERS_OF:
		write_layers(out, l);
		return true;
	case BY:
		return write_by(out, l, member);
	case COVERED:
		return write_covered(out, l);
	case WAITS:
		return write_waits(out, l);
	case PROVEN:
		break;
	}
	return false;
}

void spanline_write(struct out *out, const struct spanline *l)
{
	out_char(out, '{');
	for (size_t i = 0; i < COUNT(keys); i++) {
		size_t before = out->len;

		for (unsigned k = 0; k < FACTS_PROVEN && keys[i].kind == PROVEN; k++) {
			const struct fact_row *fact = &fact_table[fact_proven[k]];

			if (!l->facts[fact_proven[k]])
				continue;
			put_key(out, fact->name);
			out_us(out, l->facts[fact_proven[k]]);
		}
		if (keys[i].kind == PROVEN)
			continue;
		put_key(out, keys[i].name);
		if (!write_value(out, l, &keys[i]))
			out->len = before;
	}
	out_text(out, "}\n");
}

/* The row of the first of the keys in a path, which is cut off; NULL: no row has it. */
static const struct key *cut_row(struct slice *path, struct slice *name)
{
	const char *dot = memchr(path->p, '.', path->n);
	size_t i;

	*name = dot ? slice_between(path->p, dot) : *path;
	i = find_key(*name, 0);
	if (i == COUNT(keys))
		return NULL;
	*path = dot ? slice_between(dot + 1, path->p + path->n) : (struct slice){};
	return &keys[i];
}

struct slice spanline_value(const struct spanline *l, struct slice path, struct out *text)
{
	struct slice name;
	const struct key *row = cut_row(&path, &name);
	bool has = true;

	out_start(text);
	if (!row)
		has = io_key(path) < REQUEST_IO_KEYS && write_io_key(text, l, io_key(path));
	else if (row->kind != PROVEN)
		has = write_value(text, l, row);
	else if ((has = l->facts[proven_of(name)]))
		out_us(text, l->facts[proven_of(name)]);
	if (!has)
		return (struct slice){};
	return row && path.n ? json_path(out_contents(text), path) : out_contents(text);
}

bool spanline_is_io(struct slice path)
{
	struct slice name;
	const struct key *row = cut_row(&path, &name);

	return row ? row->kind == IO : io_key(path) < REQUEST_IO_KEYS;
}

bool spanline_is_key(struct slice path)
{
	struct slice name;

	return cut_row(&path, &name) || spanline_is_io(name);
}

bool spanline_is_deep(struct slice path)
{
	struct slice name;
	const struct key *row = cut_row(&path, &name);

	return row && (row->kind == TREE || row->kind == STATES || row->kind == BY || row->kind == WAITS);
}

void spanline_free(struct spanline *l)
{
	free(l->names);
	*l = (struct spanline){};
}
