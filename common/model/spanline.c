/* SPDX-License-Identifier: BSD-3-Clause */
#include "spanline.h"

#include "count.h"
#include "json.h"
#include "traceline.h"

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

static void read_io(struct json *j, struct spanline *l)
{
	struct slice key;

	for (json_object(j); json_key(j, &key);)
		if (slice_is(key, "type"))
			read_string(j, &l->type);
		else if (slice_is(key, "blocks"))
			read_number(j, &l->blocks, &l->has_blocks);
		else if (slice_is(key, "lba"))
			read_number(j, &l->lba, &l->has_lba);
		else if (slice_is(key, "bdev"))
			read_string(j, &l->bdev);
		else if (slice_is(key, "leg"))
			read_string(j, &l->leg);
		else if (slice_is(key, "qd"))
			read_number(j, &l->qd, &l->has_qd);
		else if (slice_is(key, "status"))
			read_string(j, &l->status);
		else
			json_skip(j);
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
			l->covered |= slice_is(name, "off_cpu");
}

/* An object of times by name. */
static unsigned read_times(struct json *j, struct spanline_name names[SPANLINE_NAMES])
{
	struct slice key;
	unsigned n = 0;

	for (json_object(j); json_key(j, &key);)
		if (n < SPANLINE_NAMES && read_ns(j, &names[n].ns))
			names[n++].name = key;
		else
			json_skip(j);
	return n;
}

/* An object of arrays by name, with a number of entries and their time. */
static void read_of(struct json *j, struct spanline_name *names, unsigned *n)
{
	struct slice key;

	for (json_object(j); json_key(j, &key);) {
		struct spanline_name *name = &names[*n];

		if (*n == SPANLINE_NAMES) {
			json_skip(j);
			continue;
		}
		if (!json_array(j) || !json_element(j) || !json_u64(j, &name->n))
			return;
		if (json_element(j))
			read_ns(j, &name->ns);
		while (json_element(j))
			json_skip(j);
		name->name = key;
		++*n;
	}
}

static void read_holders(struct json *j, struct spanline_wait *w)
{
	struct slice key;

	for (json_object(j); json_key(j, &key);)
		if (!w->holder.name.n && json_u64(j, &w->holder.n))
			w->holder.name = key;
		else
			json_skip(j);
}

static void read_wait(struct json *j, struct spanline_wait *w)
{
	struct slice key, name;

	*w = (struct spanline_wait){.layer = LAYERS};
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
		else if (slice_is(key, "of"))
			read_of(j, w->of, &w->num_of);
		else if (slice_is(key, "hosts"))
			read_of(j, w->hosts, &w->num_hosts);
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
			read_wait(j, &l->waits[l->num_waits++]);
		else
			json_skip(j);
}

static void read_last_leg(struct json *j, struct spanline *l)
{
	struct slice key;

	for (json_object(j); json_key(j, &key);)
		if (slice_is(key, "leg"))
			read_string(j, &l->last_leg);
		else if (slice_is(key, "us"))
			read_ns(j, &l->facts[FACT_LEG]);
		else
			json_skip(j);
	if (!l->last_leg.n)
		l->facts[FACT_LEG] = 0;
}

/* The keys whose values are read as they are, in the order of trace-spans. */
enum key_kind {
	SKIP,
	NS,
	STRING,
	NUMBER,
	TRUE,
	PARENT,
	IO,
	STATES,
	LAYERS_OF,
	COVERED,
	OFF_CPU_BY,
	IRQ_BY,
	WAITS,
	PROVEN,
	LAST_LEG
};

static const struct key {
	const char *name;
	enum key_kind kind;
	size_t offset;
} keys[] = {
#define AT(member) offsetof(struct spanline, member)
	{"tsc", SKIP, 0},
	{"us", NS, AT(start)},
	{"life", NS, AT(life)},
	{"to_reply", SKIP, 0},
	{"source", STRING, AT(source)},
	{"lcore", NUMBER, AT(lcore)},
	{"id", STRING, AT(id)},
	{"value", SKIP, 0},
	{"parent", PARENT, 0},
	{"children", SKIP, 0},
	{"owner", SKIP, 0},
	{"poller", SKIP, 0},
	{"connection", STRING, AT(connection)},
	{"io", IO, 0},
	{"states", STATES, 0},
	{"self", SKIP, 0},
	{"layers", LAYERS_OF, 0},
	{"off_cpu", NS, AT(facts[FACT_OFF_CPU])},
	{"irq", NS, AT(facts[FACT_IRQ])},
	{"off_cpu_by", OFF_CPU_BY, 0},
	{"irq_by", IRQ_BY, 0},
	{"disk", NS, AT(facts[FACT_DISK])},
	{"covered", COVERED, 0},
	{"silent", SKIP, 0},
	{"waits", WAITS, 0},
	{NULL, PROVEN, 0}, /* stands for the names of these facts */
	{"retries", SKIP, 0},
	{"queue", NUMBER, AT(queue)},
	{"last_leg", LAST_LEG, 0},
	{"args", SKIP, 0},
	{"admin", TRUE, AT(admin)},
	{"open", TRUE, AT(open)},
	{"cut", TRUE, AT(cut)},
	{"torn", SKIP, 0},
	{"lost", TRUE, AT(lost)},
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

	switch (key->kind) {
	case NS:
		read_ns(j, member);
		break;
	case STRING:
		json_string(j, member);
		break;
	case NUMBER:
		read_number(j, member, &has);
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
	case OFF_CPU_BY:
		l->num_off_cpu_by = read_times(j, l->off_cpu_by);
		break;
	case IRQ_BY:
		l->num_irq_by = read_times(j, l->irq_by);
		break;
	case WAITS:
		read_waits(j, l);
		break;
	case LAST_LEG:
		read_last_leg(j, l);
		break;
	case PROVEN:
		read_ns(j, &l->facts[proven_of(name)]);
		break;
	case SKIP:
	case PARENT:
		json_skip(j);
	}
}

/* What is wrong with the times: their sums are to be exact. */
static const char *check(const struct spanline *l, bool has_life)
{
	uint64_t sum = 0;

	if (!has_life)
		return "life is missing";
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

	*l = (struct spanline){};
	json_init(&j, line.p, line.n);
	for (json_object(&j); json_key(&j, &name);) {
		size_t i = find_key(name, next);

		if (i == COUNT(keys)) {
			json_skip(&j);
			continue;
		}
		if (keys[i].kind == PARENT) {
			l->has_parent = true;
			return NULL;
		}
		has_life |= slice_is(name, "life");
		read_value(&j, l, &keys[i], name);
		next = i + 1;
	}
	if (!json_end(&j))
		return j.error;
	return check(l, has_life);
}
