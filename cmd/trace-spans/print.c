/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"

#include <inttypes.h>

#include "count.h"
#include "json.h"
#include "legs.h"

void print_measure(struct print *p, const struct span *s)
{
	request_io_read(&p->io, p->spans, s);
	self_time_measure(&p->self, p->spans, s);
	overlaps_measure(&p->overlaps, p->spans, s);
	p->facts = proofs_facts(p->proofs, s);
	p->text.fd = OUT_MEMORY;
	p->text.len = 0;
}

/* raw: as written in JSON. */
static void put_string(struct out *out, struct slice raw)
{
	out_char(out, '"');
	out_slice(out, raw);
	out_char(out, '"');
}

static bool write_string(struct out *out, struct slice raw)
{
	if (raw.n)
		put_string(out, raw);
	return raw.n > 0;
}

static bool write_us(struct out *out, uint64_t ns)
{
	out_us(out, ns);
	return true;
}

static bool write_true(struct out *out, bool value)
{
	out_text(out, value ? "true" : "");
	return value;
}

static bool write_tsc(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	out_u64(out, s->tsc);
	return true;
}

static bool write_first(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	return write_us(out, s->first);
}

static bool write_life(struct print *p, struct out *out, const struct span *s)
{
	return write_us(out, spans_life(p->spans, s));
}

static bool write_to_reply(struct print *p, struct out *out, const struct span *s)
{
	return write_us(out, spans_to_reply(p->spans, s));
}

static bool write_source(struct print *p, struct out *out, const struct span *s)
{
	return s->source != MAP_NONE && write_string(out, p->spans->sources.all[s->source]);
}

static bool write_lcore(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	out_u64(out, s->lcore);
	return true;
}

static bool write_id(struct print *p, struct out *out, const struct span *s)
{
	out_char(out, '"');
	spans_write_id(out, p->spans, s);
	out_char(out, '"');
	return true;
}

static bool write_value(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	out_char(out, '"');
	out_hex(out, s->value);
	out_char(out, '"');
	return true;
}

static bool write_parent(struct print *p, struct out *out, const struct span *s)
{
	if (span_parent(s).n || !s->parent)
		return write_string(out, span_parent(s));
	/* an object without an id */
	return write_id(p, out, s->parent);
}

static bool write_children(struct print *p, struct out *out, const struct span *s)
{
	if (!s->child)
		return false;
	for (const struct span *child = s->child; child; child = child->next) {
		out_char(out, child == s->child ? '[' : ',');
		write_id(p, out, child);
	}
	out_char(out, ']');
	return true;
}

static bool write_owner(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	return write_string(out, span_owner(s));
}

static bool write_poller(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	return write_string(out, span_poller(s));
}

/* Writes a key of an object, with a comma unless it is the first one. */
static void put_key(struct out *out, const char *key)
{
	out_text(out, out->buf[out->len - 1] == '{' ? "\"" : ",\"");
	out_text(out, key);
	out_text(out, "\":");
}

static void put_name(struct print *p, struct out *out, uint32_t who);

/* Of a root: whose the others below it are follows from that. */
static bool write_connection(struct print *p, struct out *out, const struct span *s)
{
	if (!p->holders || s->has_parent || s->connection == MAP_NONE)
		return false;
	put_name(p, out, s->connection);
	return true;
}

static bool write_io(struct print *p, struct out *out, const struct span *s)
{
	bool any = false;

	(void)s;
	out_char(out, '{');
	for (enum request_io_key key = 0; key < REQUEST_IO_KEYS; key++) {
		size_t before = out->len;

		put_key(out, request_io_keys[key]);
		if (request_io_write(out, &p->io, key))
			any = true;
		else
			out->len = before;
	}
	out_char(out, '}');
	return any;
}

static bool write_states(struct print *p, struct out *out, const struct span *s)
{
	uint64_t unknown = s->age + (s->states[0].ns - s->first);

	out_char(out, '[');
	if (unknown) {
		out_text(out, "[null,");
		out_us(out, unknown);
		out_text(out, "],");
	}
	for (size_t i = 0; i < s->n; i++) {
		uint64_t end = i + 1 < s->n ? s->states[i + 1].ns : spans_until(p->spans, s);

		out_text(out, i ? ",[\"" : "[\"");
		out_slice(out, p->spans->states->all[s->states[i].state]);
		out_text(out, "\",");
		out_us(out, end - s->states[i].ns);
		out_char(out, ']');
	}
	out_char(out, ']');
	return true;
}

/* Adds the time of a letter to the n letters so far; returns their number then. */
static unsigned add_letter(struct self_letter *all, unsigned n, struct slice letter, uint64_t ns)
{
	unsigned i = 0;

	while (i < n && !slice_equal(all[i].letter, letter))
		i++;
	if (i == n)
		all[n++] = (struct self_letter){letter, 0};
	all[i].ns += ns;
	return n;
}

/* By letter, which several types may have. */
static bool write_self(struct print *p, struct out *out, const struct span *s)
{
	const struct intern *types = p->spans->types;
	struct self_letter letters[LIFECYCLE_TYPES + SPDK_LETTERS];
	const char *separator = "\"";
	unsigned n = 0;

	(void)s;
	for (uint32_t i = 0; i < types->n; i++)
		if (p->self.has[i])
			n = add_letter(letters, n, lifecycle_letter(types->all[i]), p->self.types[i]);
	for (unsigned i = 0; i < p->self.num_letters; i++)
		n = add_letter(letters, n, p->self.letters[i].letter, p->self.letters[i].ns);
	out_char(out, '{');
	for (unsigned i = 0; i < n; i++) {
		out_text(out, separator);
		out_slice(out, letters[i].letter);
		out_text(out, "\":");
		out_us(out, letters[i].ns);
		separator = ",\"";
	}
	out_char(out, '}');
	return true;
}

static bool write_layers(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	for (unsigned i = 0; i < LAYERS; i++) {
		out_text(out, i ? ",\"" : "{\"");
		out_text(out, spdk_layers[i]);
		out_text(out, "\":");
		out_us(out, p->self.layers[i]);
	}
	out_char(out, '}');
	return true;
}

/* Not in layers, whose sum is the life: these times also count for a layer. */
static bool write_overlap(struct print *p, struct out *out, enum overlap part)
{
	out_us(out, p->overlaps.parts[part]);
	return p->overlaps.parts[part] > 0;
}

static bool write_off_cpu(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	return write_overlap(p, out, OVERLAP_OFF_CPU);
}

static bool write_irq(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	return write_overlap(p, out, OVERLAP_IRQ);
}

static bool write_disk(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	return write_overlap(p, out, OVERLAP_DISK);
}

static bool write_held(struct print *p, struct out *out, const struct span *s, enum overlap part,
		       enum reactors_kind kind)
{
	return p->held && !s->has_parent && p->overlaps.parts[part] && held_write(p->held, out, s, kind);
}

static bool write_off_cpu_by(struct print *p, struct out *out, const struct span *s)
{
	return write_held(p, out, s, OVERLAP_OFF_CPU, REACTORS_OFF_CPU);
}

static bool write_irq_by(struct print *p, struct out *out, const struct span *s)
{
	return write_held(p, out, s, OVERLAP_IRQ, REACTORS_IRQ);
}

static bool write_last_leg(struct print *p, struct out *out, const struct span *s)
{
	struct legs_last last;

	if (!p->holders || s->has_parent || !s->child || !legs_find_last(p->spans, s, &last) || !last.ns)
		return false;
	out_text(out, "{\"leg\":");
	put_string(out, spans_bdev(last.leg));
	if (spans_bdev(last.rival).n) {
		out_text(out, ",\"after\":");
		put_string(out, spans_bdev(last.rival));
	}
	out_text(out, ",\"us\":");
	out_us(out, last.ns);
	out_char(out, '}');
	return true;
}

static bool write_us_if(struct out *out, uint64_t ns)
{
	out_us(out, ns);
	return ns > 0;
}

static bool write_silent(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	return write_us_if(out, p->overlaps.silent);
}

static bool write_no_io(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	return write_us_if(out, p->facts.ns[FACT_NO_IO]);
}

static bool write_rate_limit(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	return write_us_if(out, p->facts.ns[FACT_RATE_LIMIT]);
}

static bool write_copy(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	return write_us_if(out, p->facts.ns[FACT_COPY]);
}

static bool write_retry(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	return write_us_if(out, p->facts.ns[FACT_RETRY]);
}

static bool write_retries(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	out_u64(out, p->facts.retries);
	return p->facts.retries > 0;
}

static bool write_queue(struct print *p, struct out *out, const struct span *s)
{
	(void)s;
	out_u64(out, p->facts.queue);
	return p->facts.queue > 0;
}

/* The names of the parts that are known for the whole life; for irq, off_cpu says it. */
static bool write_covered(struct print *p, struct out *out, const struct span *s)
{
	const char *separator = "[\"";

	(void)s;
	for (unsigned i = 0; i < OVERLAPS; i++) {
		if (!p->overlaps.covered[i] || i == OVERLAP_IRQ)
			continue;
		out_text(out, separator);
		out_text(out, overlaps_name(i));
		separator = "\",\"";
	}
	out_text(out, "\"]");
	return separator[0] != '[';
}

/* Literals cost no call. */
static inline void put_number_key(struct out *out, const char *key, uint64_t number)
{
	out_text(out, key);
	out_u64(out, number);
}

static inline void put_us_key(struct out *out, const char *key, uint64_t ns)
{
	out_text(out, key);
	out_us(out, ns);
}

/* A name as a JSON string. Most need no escapes. */
static void put_name(struct print *p, struct out *out, uint32_t who)
{
	struct slice name = holders_who_name(p->holders, who);

	if (memchr(name.p, '"', name.n) || memchr(name.p, '\\', name.n)) {
		out_json(out, name);
		return;
	}
	put_string(out, name);
}

/* For whom an lcore wrote, the longest time first. */
static void put_sums(struct print *p, struct out *out, const struct lcores_sums *sums)
{
	enum { NAMES = 4 };

	for (size_t i = 0; i < sums->n && i < NAMES; i++) {
		out_text(out, i ? "," : ",\"of\":{");
		put_name(p, out, sums->all[i].who);
		put_number_key(out, ":[", sums->all[i].entries);
		put_us_key(out, ",", sums->all[i].ns);
		out_char(out, ']');
	}
	out_text(out, sums->n ? "}" : "");
}

/* Those of hosts with several connections. */
static void put_hosts(struct print *p, struct out *out, const struct lcores_work *work)
{
	const struct holders *c = p->holders;
	const char *separator = ",\"hosts\":{";

	if (work->sums.n < 2)
		return;
	holders_find_groups(p->holders, work);
	for (size_t i = 0; i < c->num_groups; i++) {
		const struct holders_group *group = &c->groups[i];

		if (group->members < 2)
			continue;
		out_text(out, separator);
		out_json(out, connections_host(p->connections, group->who));
		put_number_key(out, ":[", group->entries);
		put_us_key(out, ",", group->ns);
		put_number_key(out, ",", group->members);
		out_char(out, ']');
		separator = ",";
	}
	out_text(out, separator[1] ? "" : "}");
}

static void put_facts(struct print *p, struct out *out, const struct holders_wait *known)
{
	const struct holders_fact *fact = known->fact;

	if (known->tpoint->layer == LAYER_BUFFER)
		put_number_key(out, ",\"others\":", fact->others);
	if (known->tpoint->kind == SPDK_SOCKET_WRITE)
		put_number_key(out, ",\"queued\":", fact->others);
	if (known->pdus)
		put_number_key(out, ",\"pdus\":", known->pdus);
	if (!fact->held)
		return;
	put_number_key(out, ",\"buffers\":", fact->holders);
	out_text(out, ",\"holders\":{");
	put_name(p, out, fact->holder);
	put_number_key(out, ":", fact->held);
	out_char(out, '}');
}

static void put_wait(struct print *p, struct out *out, const struct wait *wait)
{
	const struct lcores_work *work;
	struct holders_wait known;

	holders_explain(p->holders, &p->waits, wait, &known);
	work = known.work;
	put_us_key(out, "{\"us\":", known.ns);
	if (known.lcore != MAP_NONE)
		put_us_key(out, ",\"at\":", known.at);
	if (known.tpoint) {
		out_text(out, ",\"state\":");
		put_string(out, p->spans->states->all[known.state]);
	}
	out_text(out, ",\"layer\":");
	put_string(out, slice_of(spdk_layers[known.layer]));
	if (known.lcore != MAP_NONE) {
		put_number_key(out, ",\"lcore\":", p->spans->lcores.all[known.lcore].number);
		put_number_key(out, ",\"entries\":", work->entries);
		if (work->read < work->entries)
			put_number_key(out, ",\"kept\":", work->read);
		put_us_key(out, ",\"silent\":", work->silence);
		if (work->entries && work->read == work->entries && !work->gap)
			put_us_key(out, ",\"active\":", work->active);
		out_text(out, work->gap ? ",\"lost\":true" : "");
		put_sums(p, out, &work->sums);
		put_hosts(p, out, work);
	}
	if (known.fact)
		put_facts(p, out, &known);
	out_char(out, '}');
}

static bool write_waits(struct print *p, struct out *out, const struct span *s)
{
	if (!p->holders || s->has_parent)
		return false;
	waits_find(&p->waits, p->spans, s);
	for (unsigned i = 0; i < p->waits.num_waits; i++) {
		out_char(out, i ? ',' : '[');
		put_wait(p, out, &p->waits.all[i]);
	}
	out_char(out, ']');
	return p->waits.num_waits > 0;
}

static bool write_args(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	out_slice(out, span_args(s));
	return s->args_n > 0;
}

static bool write_admin(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	return write_true(out, !s->has_parent && s->queue == SPAN_QUEUE_ADMIN);
}

static bool write_maybe_admin(struct print *p, struct out *out, const struct span *s)
{
	return write_true(out, admin_is_possible(p->spans, s));
}

static bool write_open(struct print *p, struct out *out, const struct span *s)
{
	return write_true(out, spans_is_open(p->spans, s));
}

static bool write_cut(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	return write_true(out, s->cut);
}

bool print_is_torn(const struct span *s)
{
	bool torn = s->torn;

	for (const struct span *child = s->child; child && !torn; child = child->next)
		torn = print_is_torn(child);
	return torn;
}

static bool write_torn(struct print *p, struct out *out, const struct span *s)
{
	(void)p;
	return write_true(out, print_is_torn(s));
}

static bool write_lost(struct print *p, struct out *out, const struct span *s)
{
	return write_true(out, s->gap || spans_is_lost(p->spans, s));
}

/* The keys of a span line in their order. A function that writes a value returns false if the span has none. */
static const struct key {
	const char *name;
	bool (*write)(struct print *p, struct out *out, const struct span *s);
} keys[] = {
	{"tsc", write_tsc},
	{"us", write_first},
	{"life", write_life},
	{"to_reply", write_to_reply},
	{"source", write_source},
	{"lcore", write_lcore},
	{"id", write_id},
	{"value", write_value},
	{"parent", write_parent},
	{"children", write_children},
	{"owner", write_owner},
	{"poller", write_poller},
	{"connection", write_connection},
	{"io", write_io},
	{"states", write_states},
	{"self", write_self},
	{"layers", write_layers},
	{"off_cpu", write_off_cpu},
	{"irq", write_irq},
	{"off_cpu_by", write_off_cpu_by},
	{"irq_by", write_irq_by},
	{"disk", write_disk},
	{"covered", write_covered},
	{"silent", write_silent},
	{"waits", write_waits},
	{"no_io", write_no_io},
	{"rate_limit", write_rate_limit},
	{"copy", write_copy},
	{"retry", write_retry},
	{"retries", write_retries},
	{"queue", write_queue},
	{"last_leg", write_last_leg},
	{"args", write_args},
	{"admin", write_admin},
	{"maybe_admin", write_maybe_admin},
	{"open", write_open},
	{"cut", write_cut},
	{"torn", write_torn},
	{"lost", write_lost},
};

void print_json(struct print *p, struct out *to, const struct span *s)
{
	struct out *out = &p->text;

	print_measure(p, s);
	out_char(out, '{');
	for (size_t i = 0; i < COUNT(keys); i++) {
		size_t before = out->len;

		put_key(out, keys[i].name);
		if (!keys[i].write(p, out, s))
			out->len = before;
	}
	out_text(out, "}\n");
	out_slice(to, out_contents(out));
}

/* Cuts off a key and the dot after it. The rest has no p if there is no dot. */
static struct slice cut_key(struct slice *path)
{
	struct slice key = *path;
	const char *dot = memchr(path->p, '.', path->n);

	*path = (struct slice){};
	if (!dot)
		return key;
	*path = slice_between(dot + 1, key.p + key.n);
	return slice_between(key.p, dot);
}

static bool write_io_value(struct print *p, struct slice name)
{
	for (enum request_io_key key = 0; key < REQUEST_IO_KEYS; key++)
		if (slice_is(name, request_io_keys[key]))
			return request_io_write(&p->text, &p->io, key);
	return false;
}

bool print_value(struct print *p, const struct span *s, struct slice *path, struct slice *value)
{
	struct slice rest = *path, key = cut_key(&rest);
	size_t i = 0;
	bool found;

	while (i < COUNT(keys) && !slice_is(key, keys[i].name))
		i++;
	p->text.len = 0;
	if (i < COUNT(keys) && (keys[i].write != write_io || !rest.p)) {
		found = keys[i].write(p, &p->text, s);
	} else {
		found = write_io_value(p, i < COUNT(keys) ? rest : *path);
		rest = (struct slice){};
	}
	*path = rest;
	*value = out_contents(&p->text);
	return found;
}

void print_free(struct print *p)
{
	request_io_free(&p->io);
	overlaps_free(&p->overlaps);
	waits_free(&p->waits);
	out_close(&p->text);
	out_close(&p->end);
}
