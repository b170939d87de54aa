/* SPDX-License-Identifier: BSD-3-Clause */
#include "connection.h"

#include <stdlib.h>

#include "count.h"
#include "json.h"
#include "mem.h"
#include "number.h"
#include "table.h"
#include "utf8.h"

/* In found[]: an annotation that names no connection. */
static const uint32_t NONE = MAP_NONE - 1;

/* A member of an annotation, without its quotes; empty: it has none of that name. */
static struct slice member(struct slice annotation, const char *name)
{
	return json_unquoted(json_member(annotation, slice_of(name)));
}

/*
 * Blanks separate columns, the others parts of a name: a host must not be able to imitate another host's. A backslash,
 * so that different names do not become the same.
 */
static const char separators[] = " \\/@()";

/* A JSON string without separators; valid until the next text. */
static struct slice visible(struct connections *c, struct slice raw)
{
	struct slice plain = json_decode(raw);
	struct out *out = out_start(&c->text);

	out_escaped(out, plain, separators);
	free((char *)plain.p);
	return out_contents(out);
}

/* By its first groups, because tools cut long NQNs. A NUL byte must follow the text. */
static bool is_uuid(struct slice s)
{
	return s.n > 8 && s.p[8] == '-' && !memchr(s.p, '-', 8) && strspn(s.p, "0123456789abcdefABCDEF-") == s.n;
}

enum { PARTS = 12 };

/* The parts of an NQN that may be used as its name, shortest first, itself last. Returns their number. */
static unsigned nqn_parts(struct slice nqn, struct slice parts[PARTS])
{
	char boundary = ':';
	const char *p;
	unsigned n = 0;

	/* an NQN must have a colon; some targets accept others */
	if (!memchr(nqn.p, ':', nqn.n) && nqn.n > 4 && memcmp(nqn.p, "nqn.", 4) == 0)
		boundary = '.';
	for (size_t end = nqn.n; n < PARTS - 1 && (p = memrchr(nqn.p, boundary, end)); end = p - nqn.p) {
		struct slice part = slice_between(p + 1, nqn.p + nqn.n);

		for (size_t i = 8; n < 4 && is_uuid(part) && i < part.n; i++)
			if (part.p[i] == '-')
				parts[n++] = (struct slice){part.p, i};
		if (part.n)
			parts[n++] = part;
	}
	parts[n++] = nqn;
	return n;
}

static uint32_t learn_nqn(struct connections *c, struct connection_nqns *nqns, struct slice nqn)
{
	uint32_t known = nqns->whole.n, number = intern_add(&nqns->whole, nqn);
	struct slice parts[PARTS];

	if (nqns->whole.n == known)
		return number;
	c->known++;
	for (unsigned n = nqn_parts(nqns->whole.all[number], parts), i = 0; i < n; i++) {
		uint32_t part = intern_add(&nqns->parts, parts[i]);

		++*table_at(nqns->uses, nqns->num_uses, nqns->cap_uses, part);
	}
	return number;
}

/* The shortest part that no other NQN has; the whole NQN when it is a part of another. */
static struct slice nqn_name(const struct connection_nqns *nqns, uint32_t whole)
{
	struct slice parts[PARTS];
	unsigned n = nqn_parts(nqns->whole.all[whole], parts), i = 0;

	while (i < n - 1 && nqns->uses[intern_get(&nqns->parts, parts[i])] > 1)
		i++;
	return parts[i];
}

static uint32_t learn_host(struct connections *c, struct slice nqn)
{
	uint32_t host = learn_nqn(c, &c->hosts, nqn);

	if (host == c->num_hosts) {
		c->subsystems_of = mem_room(c->subsystems_of, c->num_hosts, &c->cap_hosts);
		c->subsystems_of[c->num_hosts++] = (struct connection_host){.subsystem = MAP_NONE};
	}
	return host;
}

static uint32_t learn_subsystem(struct connections *c, uint32_t host, struct slice nqn)
{
	struct connection_host *of = &c->subsystems_of[host];
	uint32_t subsystem = learn_nqn(c, &c->subsystems, nqn);

	if (of->subsystem == MAP_NONE) {
		of->subsystem = subsystem;
	} else if (of->subsystem != subsystem && !of->several) {
		of->several = true;
		c->known++;
	}
	return subsystem;
}

void connections_learn(struct connections *c, struct slice hostnqn, struct slice subnqn)
{
	uint32_t host;

	out_escaped(out_start(&c->text), hostnqn, separators);
	host = learn_host(c, out_contents(&c->text));
	if (!subnqn.n)
		return;
	out_escaped(out_start(&c->text), subnqn, separators);
	learn_subsystem(c, host, out_contents(&c->text));
}

static uint32_t add(struct connections *c, const struct traceline *line, enum connection_kind kind)
{
	c->all = mem_room(c->all, c->n, &c->cap);
	c->all[c->n] = (struct connection){.kind = kind, .host = MAP_NONE, .subsystem = MAP_NONE, .known = UINT64_MAX};
	if (line->source.p)
		c->all[c->n].source = 1 + intern_add(&c->texts, line->source);
	return c->n++;
}

/* What a text, and another one if it is not empty, identify in the line's source. */
static uint64_t key_of(struct connections *c, const struct traceline *line, struct slice text, struct slice other)
{
	uint64_t more = other.n ? 1 + intern_add(&c->texts, other) : 0;

	return traceline_in_source(line, more << 32 | intern_add(&c->texts, text));
}

struct slice connection_address(struct slice owner)
{
	const char *blank = owner.n ? memchr(owner.p, ' ', owner.n) : NULL;
	struct slice word = blank ? slice_between(owner.p, blank) : owner;

	return word.n && memchr(word.p, ':', word.n) ? word : (struct slice){};
}

bool connection_is_owner(const struct traceline *line)
{
	/* these have the letter t, as threads do, and an address */
	return line->poller.n && line->poller.p[0] == 't' && connection_address(line->owner).n;
}

/* The number after " qid:" in an owner. */
static struct slice queue_of(struct slice owner)
{
	static const char before[] = " qid:";
	const char *found = memmem(owner.p, owner.n, before, strlen(before)), *end = owner.p + owner.n, *blank;

	if (!found)
		return (struct slice){"", 0};
	found += strlen(before);
	blank = memchr(found, ' ', end - found);
	return slice_between(found, blank ? blank : end);
}

bool connection_annotated_queue(struct slice annotation, uint64_t *queue)
{
	return number_decimal(member(annotation, "qid"), queue);
}

bool connection_owner_queue(struct slice owner, uint64_t *queue)
{
	return number_decimal(queue_of(owner), queue);
}

/* Adds the connection of an owner, or an owner that is no connection. It is named by its first word. */
static uint32_t add_owner(struct connections *c, const struct traceline *line)
{
	uint32_t number = add(c, line, connection_is_owner(line) ? CONNECTION_ADDRESS : CONNECTION_OWNER);
	struct connection *connection = &c->all[number];
	struct slice plain = json_decode(line->owner), word;

	word.p = plain.p + strspn(plain.p, " ");
	word.n = strcspn(word.p, " ");
	/* the target writes it; names of bdevs may have a slash */
	out_escaped(out_start(&c->text), word, " \\");
	free((char *)plain.p);
	connection->plain = mem_slice(out_contents(&c->text));
	connection->queue = mem_slice(visible(c, queue_of(line->owner)));
	connection->owner = mem_slice(line->owner);
	connection->poller = mem_slice(line->poller);
	connection->id = mem_slice(visible(c, line->poller));
	return number;
}

static uint32_t owner_of(struct connections *c, const struct traceline *line)
{
	struct slice poller = line->poller;
	/* most are found here: the last digits of their numbers differ */
	unsigned digits = poller.n > 1 ? 10 * poller.p[poller.n - 2] + poller.p[poller.n - 1] : 0;
	uint32_t *recent = &c->recent[digits % COUNT(c->recent)], *found;
	const struct connection *known = *recent < c->n && !line->source.p ? &c->all[*recent] : NULL;

	if (known && !known->source && slice_equal(known->owner, line->owner) &&
	    slice_equal(known->poller, line->poller))
		return *recent;
	found = map_put(&c->found[CONNECTION_OWNER], key_of(c, line, line->owner, line->poller));
	if (*found == MAP_NONE)
		*found = add_owner(c, line);
	*recent = *found;
	return *found;
}

/* The connection of an annotation that is the first one with this host, subsystem, queue, and owner or address. */
static uint32_t add_host(struct connections *c, const struct traceline *line, struct connection new, bool is_owner)
{
	uint32_t number = is_owner ? owner_of(c, line) : MAP_NONE;
	struct connection *connection;

	/* the owner of the entry was known only by its address */
	if (number == MAP_NONE || c->all[number].kind != CONNECTION_ADDRESS)
		number = add(c, line, CONNECTION_HOST);
	connection = &c->all[number];
	connection->kind = CONNECTION_HOST;
	connection->hostnqn = mem_slice(new.hostnqn);
	connection->host = new.host;
	connection->subsystem = new.subsystem;
	connection->known = UINT64_MAX;
	free((char *)connection->queue.p);
	connection->queue = mem_slice(new.queue);
	if (!connection->id.p)
		connection->id = mem_slice(visible(c, new.id));
	return number;
}

static uint32_t annotated_connection(struct connections *c, const struct traceline *line, struct slice annotation,
				     struct slice hostnqn)
{
	struct slice owner = member(annotation, "owner"), ptr = member(annotation, "ptr");
	struct slice subnqn = member(annotation, "subnqn");
	struct connection new = {.hostnqn = hostnqn, .subsystem = MAP_NONE, .id = owner.n ? owner : ptr};
	bool is_owner = connection_is_owner(line) && slice_equal(owner, line->poller);
	uint32_t *found;

	new.host = learn_host(c, visible(c, hostnqn));
	if (subnqn.n)
		new.subsystem = learn_subsystem(c, new.host, visible(c, subnqn));
	new.queue = mem_slice(visible(c, member(annotation, "qid")));
	out_printf(out_start(&c->text), "%u/%u/", new.host, new.subsystem);
	out_slice(&c->text, new.queue);
	/* no annotation is the same text, because it has a brace */
	found = map_put(&c->found[CONNECTION_HOST], key_of(c, line, out_contents(&c->text), new.id));
	if (*found == MAP_NONE)
		*found = add_host(c, line, new, is_owner);
	free((char *)new.queue.p);
	return *found;
}

unsigned connection_text_place(struct slice text)
{
	uint64_t words[2] = {};

	if (text.n >= 10 + sizeof(words))
		memcpy(words, text.p + 10, sizeof(words));
	return (words[0] ^ words[1]) * 0x9e3779b97f4a7c15 >> 58;
}

uint32_t connections_annotated(struct connections *c, const struct traceline *line, struct slice annotation)
{
	struct connection_annotation *recent = &c->annotations[connection_text_place(annotation)];
	struct slice hostnqn;
	uint32_t number;
	uint64_t key;

	if (!line->source.p && slice_equal(recent->text, annotation))
		return recent->number;
	key = key_of(c, line, annotation, (struct slice){});
	number = map_get(&c->found[CONNECTION_HOST], key);
	if (number == MAP_NONE) {
		hostnqn = member(annotation, "hostnqn");
		number = hostnqn.n ? annotated_connection(c, line, annotation, hostnqn) : NONE;
		*map_put(&c->found[CONNECTION_HOST], key) = number;
	}
	number = number == NONE ? MAP_NONE : number;
	if (!line->source.p)
		*recent = (struct connection_annotation){c->texts.all[intern_get(&c->texts, annotation)], number};
	return number;
}

static uint32_t add_qpair(struct connections *c, const struct traceline *line, struct slice ptr)
{
	uint32_t number = add(c, line, CONNECTION_QPAIR);
	struct connection *connection = &c->all[number];

	connection->id = mem_slice(visible(c, ptr));
	out_text(out_start(&c->text), "qpair=");
	out_slice(&c->text, connection->id);
	connection->plain = mem_slice(out_contents(&c->text));
	return number;
}

/* The connection of an address, or of the address in an annotation without a host; MAP_NONE: that has none. */
static uint32_t qpair_of(struct connections *c, const struct traceline *line, struct slice value)
{
	struct slice ptr = value.p[0] == '{' ? member(value, "ptr") : json_unquoted(value);
	uint32_t *found;

	if (!ptr.n)
		return MAP_NONE;
	found = map_put(&c->found[CONNECTION_QPAIR], key_of(c, line, ptr, (struct slice){}));
	if (*found == MAP_NONE)
		*found = add_qpair(c, line, ptr);
	return *found;
}

static uint32_t poller_of(struct connections *c, const struct traceline *line)
{
	uint32_t *found = map_put(&c->found[CONNECTION_POLLER], key_of(c, line, line->poller, (struct slice){}));

	if (*found == MAP_NONE) {
		*found = add(c, line, CONNECTION_POLLER);
		c->all[*found].plain = mem_slice(visible(c, line->poller));
		c->all[*found].id = mem_slice(c->all[*found].plain);
	}
	return *found;
}

/* By the first argument that is annotated with a host. All are learned, before the first name is used. */
static uint32_t find_host(struct connections *c, const struct traceline *line, size_t *arg)
{
	uint32_t found = MAP_NONE, number;

	for (size_t i = 0; i < line->num_args; i++) {
		if (line->args[i].value.p[0] != '{')
			continue;
		number = connections_annotated(c, line, line->args[i].value);
		if (number == MAP_NONE || found != MAP_NONE)
			continue;
		found = number;
		*arg = i;
	}
	return found;
}

static uint32_t find_qpair(struct connections *c, const struct traceline *line, size_t *arg)
{
	for (size_t i = 0; i < line->num_args; i++) {
		uint32_t number = MAP_NONE;

		if (slice_is(line->args[i].key, "qpair"))
			number = qpair_of(c, line, line->args[i].value);
		if (number == MAP_NONE)
			continue;
		/* an annotation says more */
		*arg = line->args[i].value.p[0] == '{' ? SIZE_MAX : i;
		return number;
	}
	return MAP_NONE;
}

uint32_t connections_find(struct connections *c, const struct traceline *line, size_t *arg)
{
	uint32_t number, owner = MAP_NONE;

	*arg = SIZE_MAX;
	number = find_host(c, line, arg);
	if (number != MAP_NONE)
		return number;
	if (line->owner.n) {
		owner = owner_of(c, line);
		if (c->all[owner].kind != CONNECTION_OWNER)
			return owner;
	}
	number = find_qpair(c, line, arg);
	if (number != MAP_NONE)
		return number;
	if (owner != MAP_NONE && c->all[owner].plain.n)
		return owner;
	return line->poller.n ? poller_of(c, line) : MAP_NONE;
}

bool connection_key(const struct traceline *line, uint64_t *key)
{
	struct slice qpair;
	uint64_t number = line->object_value;

	if (connection_is_owner(line) && number_decimal(slice_from(line->poller, 1), &number)) {
		*key = traceline_in_source(line, number | UINT64_C(1) << 63);
		return true;
	}
	/* until v24.01 entries of connections have its address in place of an object's */
	if (line->object_id.p) {
		qpair = traceline_arg(line, "qpair");
		if (qpair.n && qpair.p[0] == '{')
			qpair = json_member(qpair, slice_of("ptr"));
		if (!qpair.n || !traceline_number(qpair, &number))
			return false;
	}
	*key = traceline_in_source(line, number);
	return line->object_id.p || number != 0;
}

/* An owner whose description has grown, or that was registered again, has the name that it had. */
static bool is_same_owner(const struct connection *a, const struct connection *b)
{
	return a->owner.n && b->owner.n && (slice_equal(a->poller, b->poller) || slice_equal(a->owner, b->owner));
}

/* Makes the name in c->text differ from those of other connections of its source. */
static void make_unique(struct connections *c, uint32_t number)
{
	const struct connection *connection = &c->all[number];

	for (;;) {
		uint64_t name = intern_add(&c->names, out_contents(&c->text));
		uint32_t *user = map_put(&c->users, (uint64_t)connection->source << 32 | name);

		if (*user == MAP_NONE)
			*user = number;
		if (*user == number || is_same_owner(&c->all[*user], connection))
			return;
		out_char(&c->text, '(');
		out_slice(&c->text, connection->id);
		out_char(&c->text, ')');
	}
}

void connections_rename(struct connections *c, uint32_t number)
{
	struct connection *connection = &c->all[number];
	struct out *name = out_start(&c->text);

	out_slice(name, connection->host == MAP_NONE ? connection->plain : nqn_name(&c->hosts, connection->host));
	if (connection->queue.n) {
		out_char(name, '/');
		out_slice(name, connection->queue);
	}
	if (connection->subsystem != MAP_NONE && c->subsystems_of[connection->host].several) {
		out_char(name, '@');
		out_slice(name, nqn_name(&c->subsystems, connection->subsystem));
	}
	make_unique(c, number);
	free((char *)connection->name.p);
	connection->name = mem_slice(out_contents(name));
	connection->width = utf8_count(connection->name);
	connection->known = c->known;
}

struct slice connections_host(const struct connections *c, uint32_t number)
{
	uint32_t host = c->all[number].host;

	return host == MAP_NONE ? (struct slice){} : nqn_name(&c->hosts, host);
}

struct slice connections_named(struct connections *c, struct slice hostnqn)
{
	uint32_t host = intern_get(&c->hosts.whole, visible(c, hostnqn));

	return host == MAP_NONE ? (struct slice){} : nqn_name(&c->hosts, host);
}

static void free_nqns(struct connection_nqns *nqns)
{
	intern_free(&nqns->whole);
	intern_free(&nqns->parts);
	free(nqns->uses);
}

void connections_free(struct connections *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct connection *connection = &c->all[i];
		struct slice texts[] = {connection->name,  connection->hostnqn, connection->owner, connection->poller,
					connection->plain, connection->queue,   connection->id};

		for (size_t n = 0; n < COUNT(texts); n++)
			free((char *)texts[n].p);
	}
	free(c->all);
	intern_free(&c->texts);
	for (unsigned kind = 0; kind < CONNECTION_KINDS; kind++)
		map_free(&c->found[kind]);
	free_nqns(&c->hosts);
	free_nqns(&c->subsystems);
	free(c->subsystems_of);
	intern_free(&c->names);
	map_free(&c->users);
	out_close(&c->text);
}
