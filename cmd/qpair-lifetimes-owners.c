/* SPDX-License-Identifier: BSD-3-Clause */
#include "qpair-lifetimes-owners.h"

#include <err.h>
#include <stdlib.h>

#include "json.h"
#include "lines.h"
#include "number.h"

enum {
	NUM_IDS = 1 << 16, /* of owners and of lcores */
	/* of SPDK: the last id, and how many characters a description can have */
	LAST_ID = 16383,
	DESCRIPTION_MAX = 118,
};

#define UNKNOWN UINT64_MAX

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		err(EXIT_FAILURE, NULL);
	return p;
}

/* Takes the last word off the text, and the blank before it. Empty when there is only one. */
static struct slice take_word(struct slice *text)
{
	const char *blank = memrchr(text->p, ' ', text->n);
	struct slice word = {};

	if (blank) {
		word = (struct slice){blank + 1, text->p + text->n - blank - 1};
		text->n = blank - text->p;
	}
	return word;
}

/* Whether a word ends in a colon and a number, as ADDRESS:PORT and qid:N do; what is before it in *before. */
static bool ends_in_number(struct slice word, struct slice *before, uint64_t *number)
{
	const char *colon = memrchr(word.p, ':', word.n);

	if (!colon)
		return false;
	*before = (struct slice){word.p, colon - word.p};
	return before->n &&
	       number_decimal((struct slice){colon + 1, word.p + word.n - colon - 1}, number);
}

/*
 * Takes the description of an owner of type t apart, which is a thread or a connection: CLIENT:PORT, behind it SUBNQN
 * once the host has connected, and from v26.05 on LISTENER:PORT, where the listener is still there, and qid:N.
 */
static void read_description(struct owner *owner)
{
	struct slice text = slice_of(owner->description), word, before;
	const char *blank = memchr(text.p, ' ', text.n);
	uint64_t number;

	word = (struct slice){text.p, blank ? (size_t)(blank - text.p) : text.n};
	owner->tcp = ends_in_number(word, &before, &number);
	owner->cut = text.n >= DESCRIPTION_MAX;
	if (!owner->tcp || !blank)
		return;
	owner->subnqn = (struct slice){blank + 1, text.p + text.n - blank - 1};
	if (owner->cut)
		return;
	text = owner->subnqn;
	word = take_word(&text);
	if (!word.n || !ends_in_number(word, &before, &owner->qid) || !slice_is(before, "qid"))
		return;
	owner->has_qid = true;
	owner->subnqn = text;
	word = take_word(&text);
	if (word.n && ends_in_number(word, &before, &number))
		owner->subnqn = text;
}

/* The owner's lcore when there is one. */
static void read_lcores(struct json *j, struct owner *owner)
{
	for (json_array(j); json_element(j);) {
		owner->moved |= owner->lcore != UNKNOWN;
		if (json_u64(j, &owner->lcore) && owner->lcore >= NUM_IDS)
			json_fail(j, "an lcore below 65536 is expected");
	}
	if (owner->moved)
		owner->lcore = UNKNOWN;
}

static char *unescape(struct slice raw)
{
	char *text = allocate(raw.n, 1);

	text[json_unescape(text, raw)] = 0;
	return text;
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
		return NULL; /* another line of trace-dump -i and -d */
	if (!id || owner->id >= NUM_IDS)
		return "an owner's id, below 65536, is missing";
	if (!tsc)
		return "an owner without tsc: the JSON of spdk_trace does not tell it, a trace file does";
	owner->description = unescape(description);
	if (poller.n && *poller.p == 't')
		read_description(owner);
	return NULL;
}

static void add_owner(struct owners *o, const struct owner *owner)
{
	if (o->n == o->cap) {
		o->cap = o->cap ? 2 * o->cap : 1024;
		o->all = reallocarray(o->all, o->cap, sizeof(*o->all));
		if (!o->all)
			err(EXIT_FAILURE, NULL);
	}
	o->all[o->n++] = *owner;
}

static int by_registration(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* From when on the table is whole: ids are given out in ascending order until all have been, see the header. */
static uint64_t whole_since(const struct owners *o)
{
	bool again = false;

	for (size_t i = 0; i < o->n; i++)
		again |= o->all[i].id >= LAST_ID || (i && o->all[i].id < o->all[i - 1].id);
	return again ? o->all[o->n - o->n / 2 - 1].tsc + 1 : 0;
}

/* A lines_take. */
static const char *add_line(void *context, struct slice line)
{
	static bool seen[NUM_IDS];
	struct owners *o = context;
	struct owner owner;
	const char *error = read_owner(line, &owner);

	if (error || !owner.description)
		return error;
	if (seen[owner.id]) {
		free(owner.description);
		return "this owner was there before: the owners of one trace, at one time, are expected";
	}
	seen[owner.id] = true;
	add_owner(o, &owner);
	o->poll_groups += strncmp(owner.description, "nvmf_tgt_poll_group_", 20) == 0;
	return NULL;
}

int owners_read(struct owners *o, const char *path)
{
	struct lines lines;
	int status;

	*o = (struct owners){};
	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	o->name = lines.name;
	status = lines_each(&lines, add_line, o);
	if (o->n)
		qsort(o->all, o->n, sizeof(*o->all), by_registration);
	o->whole_since = whole_since(o);
	o->tcp = allocate(o->n, sizeof(*o->tcp));
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].tcp)
			o->tcp[o->num_tcp++] = &o->all[i];
	return status;
}

size_t owners_before(const struct owners *o, uint64_t tsc)
{
	size_t low = 0, high = o->num_tcp;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->tcp[middle]->tsc < tsc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void owners_free(struct owners *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->all[i].description);
	free(o->all);
	free(o->tcp);
	*o = (struct owners){};
}
