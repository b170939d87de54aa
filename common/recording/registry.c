/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry.h"

#include <stdlib.h>

#include "json.h"
#include "map.h"
#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "probeline.h"
#include "search.h"

enum {
	/* of SPDK: the last id, and how many characters a description can have */
	LAST_ID = 16383,
	DESCRIPTION_MAX = 118,
};

#define UNKNOWN UINT64_MAX

/* Cuts off the last word of the text, with the blank before it. Empty when there is only one. */
static struct slice cut_last_word(struct slice *text)
{
	const char *blank = memrchr(text->p, ' ', text->n);
	struct slice word = {};

	if (blank) {
		word = slice_between(blank + 1, text->p + text->n);
		*text = slice_between(text->p, blank);
	}
	return word;
}

/* Splits ADDRESS:PORT or qid:N. False when the word does not end in a colon and a number. */
static bool ends_in_number(struct slice word, struct slice *before, uint64_t *number)
{
	const char *colon = memrchr(word.p, ':', word.n);

	if (!colon)
		return false;
	*before = slice_between(word.p, colon);
	return before->n && number_decimal(slice_between(colon + 1, word.p + word.n), number);
}

/*
 * Parses the description of an owner of type t, which is a thread or a connection: CLIENT:PORT,
 * then SUBNQN once the host has connected, and from v26.05 on LISTENER:PORT, while the listener
 * exists, and qid:N.
 */
static void parse_description(struct owner *owner)
{
	struct slice text = slice_of(owner->description), word, before;
	const char *blank = memchr(text.p, ' ', text.n);
	uint64_t number;

	word = blank ? slice_between(text.p, blank) : text;
	owner->tcp = owner->type == 't' && ends_in_number(word, &before, &number);
	owner->cut = text.n >= DESCRIPTION_MAX;
	owner->has_qid = false;
	owner->peer = word;
	owner->subnqn = (struct slice){};
	if (!owner->tcp || !blank)
		return;
	owner->subnqn = slice_between(blank + 1, text.p + text.n);
	if (owner->cut)
		return;
	text = owner->subnqn;
	word = cut_last_word(&text);
	if (!word.n || !ends_in_number(word, &before, &owner->qid) || !slice_is(before, "qid"))
		return;
	owner->has_qid = true;
	owner->subnqn = text;
	word = cut_last_word(&text);
	if (word.n && ends_in_number(word, &before, &number))
		owner->subnqn = text;
}

/* Sets the owner's lcore, if it has exactly one. */
static void read_lcores(struct json *j, struct owner *owner)
{
	for (json_array(j); json_element(j);) {
		owner->moved |= owner->lcore != UNKNOWN;
		if (json_u64(j, &owner->lcore) && owner->lcore >= OWNERS_IDS)
			json_fail(j, "an lcore below 65536 is expected");
	}
	if (owner->moved)
		owner->lcore = UNKNOWN;
}

/* Returns NULL, or what is wrong with the line. */
static const char *read_owner(struct slice line, struct owner *owner)
{
	struct slice key, raw, description = {}, poller = {};
	bool id = false, tsc = false;
	struct json j;

	*owner = (struct owner){.end = UNKNOWN, .lcore = UNKNOWN, .thread = UNKNOWN};
	json_init(&j, line.p, line.n);
	for (json_object(&j); json_key(&j, &key);) {
		if (json_is(key, "id"))
			id = json_u64(&j, &owner->id);
		else if (json_is(key, "tsc"))
			tsc = json_u64(&j, &owner->tsc);
		else if (json_is(key, "end"))
			json_u64(&j, &owner->end);
		else if (json_is(key, "lcores"))
			read_lcores(&j, owner);
		else if (json_is(key, "poller") && json_string(&j, &raw))
			poller = raw;
		else if (json_is(key, "description") && json_string(&j, &raw))
			description = raw;
		else if (!json_is(key, "poller") && !json_is(key, "description"))
			json_skip(&j);
	}
	if (!json_end(&j))
		return j.error;
	if (!description.p)
		return NULL; /* a line of trace-dump -i or -d */
	if (!id || owner->id >= OWNERS_IDS)
		return "an owner's id, below 65536, is missing";
	if (!tsc)
		return "an owner without tsc: the JSON of spdk_trace does not have it, a trace file does";
	owner->description = (char *)json_decode(description).p;
	owner->type = poller.n ? *poller.p : 0;
	return NULL;
}

static void add_owner(struct owners *o, const struct owner *owner)
{
	o->all = mem_room(o->all, o->n, &o->cap);
	o->all[o->n] = *owner;
	o->all[o->n++].order = o->num_added++;
}

static int by_registration(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return ORDER(x->tsc, y->tsc) ?: ORDER(x->id, y->id) ?: ORDER(x->order, y->order);
}

/* The ticks from which on a table has all owners: ids ascend until all have been used; see match.h. */
static uint64_t table_whole_since(const struct owner *table, size_t n)
{
	struct owner *sorted = mem_array(n, sizeof(*sorted));
	uint64_t since = 0;
	bool again = false;

	memcpy(sorted, table, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_registration);
	for (size_t i = 0; i < n; i++)
		again |= sorted[i].id >= LAST_ID || (i && sorted[i].id < sorted[i - 1].id);
	if (again)
		since = sorted[n - n / 2 - 1].tsc + 1;
	free(sorted);
	return since;
}

/*
 * The same for lines of a recorder that follows owners: a table comes first, with ascending ids; no
 * owner is missing after it. A line that is the same as an earlier one belongs to another table.
 */
static uint64_t whole_since(const struct owner *lines, size_t n)
{
	struct map last = {}; /* line of each id */
	size_t run = 0, begin = 0, end = n;
	bool follows = false;
	uint64_t since = 0;

	for (size_t i = 0; i < n; i++) {
		const struct owner *owner = &lines[i], *before = NULL;
		uint32_t *line = map_put(&last, owner->id);

		if (i && owner->id <= lines[i - 1].id)
			run = i;
		if (*line != MAP_NONE)
			before = &lines[*line];
		if (before && before->tsc == owner->tsc && strcmp(before->description, owner->description) == 0)
			begin = run;
		follows |= before != NULL;
		*line = i;
	}
	if (follows)
		for (end = begin + 1; end < n && lines[end].id > lines[end - 1].id; end++)
			;
	if (n)
		since = table_whole_since(lines + begin, end - begin);
	map_free(&last);
	return since;
}

static void add_source(struct owners *o, uint64_t since)
{
	if (!o->num_sources++ || since < o->whole_since)
		o->whole_since = since;
}

const char *registry_add(void *owners, struct slice line)
{
	struct owner owner;
	const char *error = read_owner(line, &owner);

	if (!error && owner.description)
		add_owner(owners, &owner);
	return error;
}

void registry_add_table(struct owners *o)
{
	o->num_read = o->n;
	add_source(o, whole_since(o->all, o->n));
}

const char *registry_add_line(struct owners *o, struct slice fields, uint64_t last_added)
{
	enum { TSC, ID, POLLER, DESCRIPTION, FIELDS };
	static const char *const names[FIELDS] = {"tsc", "id", "poller", "description"};
	struct owner owner = {.end = UNKNOWN, .lcore = UNKNOWN, .thread = UNKNOWN};
	struct probeline_field found[FIELDS];
	const char *error = probeline_fields(fields, names, FIELDS, found);

	if (error)
		return error;
	if (!probeline_number(&found[TSC], &owner.tsc))
		return "an owner's tsc, a hexadecimal number, is missing";
	if (!probeline_number(&found[ID], &owner.id) || owner.id >= OWNERS_IDS)
		return "an owner's id, below 0x10000, is missing";
	if (!found[DESCRIPTION].quoted)
		return "an owner's description, a string, is missing";
	owner.type = found[POLLER].quoted && found[POLLER].value.n ? *found[POLLER].value.p : 0;
	owner.description = (char *)probeline_decode(found[DESCRIPTION].value).p;
	if (o->n == o->num_read)
		o->followed_since = last_added;
	add_owner(o, &owner);
	return NULL;
}

/* Adds to an owner the facts that were read about it later, and frees the description not used. */
static void merge(struct owner *owner, struct owner *later, size_t num_read)
{
	bool other_source = owner->order < num_read && later->order >= num_read;
	size_t n = strlen(later->description);
	char *old = owner->description;

	/* a description grows while the owner lives, and the source that was read later may be the older one */
	if (other_source && strncmp(old, later->description, n) == 0) {
		free(later->description);
	} else {
		owner->description = later->description;
		free(old);
	}
	owner->moved |= later->moved ||
			(owner->lcore != UNKNOWN && later->lcore != UNKNOWN && owner->lcore != later->lcore);
	if (later->lcore != UNKNOWN)
		owner->lcore = later->lcore;
	if (owner->moved)
		owner->lcore = UNKNOWN;
	if (later->end != UNKNOWN)
		owner->end = later->end;
	owner->order = later->order;
}

/* An owner has ended when its number is reused. */
static void set_ends(struct owners *o)
{
	struct map next = {}; /* owner of each id */

	for (size_t i = o->n; i-- > 0;) {
		struct owner *owner = &o->all[i];
		uint32_t *index = map_put(&next, owner->id);
		uint64_t end = *index != MAP_NONE ? o->all[*index].tsc : 0;

		if (end && end <= owner->end)
			owner->end = end - 1;
		*index = i;
	}
	map_free(&next);
}

/* Lists those that match_owners() searches. */
static void list_tcp(struct owners *o)
{
	free(o->tcp);
	o->tcp = mem_array(o->n, sizeof(*o->tcp));
	o->num_tcp = o->poll_groups = 0;
	for (size_t i = 0; i < o->n; i++) {
		struct owner *owner = &o->all[i];

		owner->thread = UNKNOWN;
		parse_description(owner);
		if (owner->tcp)
			o->tcp[o->num_tcp++] = owner;
		o->poll_groups += strncmp(owner->description, "nvmf_tgt_poll_group_", 20) == 0;
	}
	o->had_tcp |= o->num_tcp > 0;
}

void registry_find_whole(struct owners *o)
{
	if (o->n > o->num_read) {
		uint64_t since = whole_since(o->all + o->num_read, o->n - o->num_read);

		add_source(o, since < o->followed_since ? since : o->followed_since);
	}
}

void registry_merge(struct owners *o)
{
	size_t n = 0;

	if (o->n)
		qsort(o->all, o->n, sizeof(*o->all), by_registration);
	for (size_t i = 0; i < o->n; i++) {
		struct owner *owner = &o->all[i];

		if (n && o->all[n - 1].id == owner->id && o->all[n - 1].tsc == owner->tsc)
			merge(&o->all[n - 1], owner, o->num_read);
		else
			o->all[n++] = *owner;
	}
	o->n = n;
	set_ends(o);
	list_tcp(o);
}

void registry_forget(struct owners *o, size_t recent)
{
	size_t reused = 0, n = 0;

	for (size_t i = 0; i < o->n; i++)
		reused += o->all[i].end != UNKNOWN;
	for (size_t i = 0; i < o->n; i++) {
		struct owner *owner = &o->all[i];

		if (owner->end != UNKNOWN && reused-- > recent && !owner->living)
			free(owner->description);
		else
			o->all[n++] = *owner;
	}
	o->n = n;
	list_tcp(o);
}

bool registry_possible(const struct owners *o, uint64_t tsc)
{
	return o->had_tcp || o->num_added == o->num_read || tsc <= o->followed_since;
}

size_t registry_before(const struct owners *o, uint64_t tsc)
{
	return search_first(i, o->num_tcp, o->tcp[i]->tsc >= tsc);
}

void registry_free(struct owners *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->all[i].description);
	free(o->all);
	free(o->tcp);
	*o = (struct owners){};
}
