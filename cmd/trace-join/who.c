/* SPDX-License-Identifier: BSD-3-Clause */
#include "who.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "probeline.h"
#include "utf8.h"

static void *allocate(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n, size);

	if (!p)
		err(EXIT_FAILURE, NULL);
	return p;
}

static struct slice copy(struct slice s)
{
	return (struct slice){memcpy(allocate(NULL, s.n + 1, 1), s.p, s.n), s.n};
}

static uint32_t add(struct intern *names, struct slice text)
{
	uint32_t number = intern_add(names, text);

	if (number == MAP_NONE)
		err(EXIT_FAILURE, NULL);
	return number;
}

/* Grows an array with one element for each name, which starts as zero; had: names->cap when it last grew. */
static void *keep_up(void *array, uint32_t had, const struct intern *names, size_t size)
{
	if (names->cap == had)
		return array;
	array = allocate(array, names->cap, size);
	memset((char *)array + had * size, 0, (names->cap - had) * size);
	return array;
}

/* As utf8_visible(), but reversible, and without blanks, because they separate columns. */
static char *visible(char *to, struct slice s)
{
	while (s.n) {
		size_t n = 0;

		while (n < s.n && s.p[n] != ' ' && s.p[n] != '\\')
			n++;
		to = utf8_visible(to, (struct slice){s.p, n});
		if (n < s.n)
			to += sprintf(to, "\\x%02x", s.p[n++]);
		s = (struct slice){s.p + n, s.n - n};
	}
	return to;
}

static unsigned width_of(struct slice s)
{
	unsigned width = 0;

	for (size_t i = 0; i < s.n; i++)
		width += (s.p[i] & 0xc0) != 0x80;
	return width;
}

/* Judged by its first groups, because tools cut long NQNs. A NUL byte must follow the text. */
static bool is_uuid(struct slice s)
{
	return s.n > 8 && s.p[8] == '-' && !memchr(s.p, '-', 8) &&
	       strspn(s.p, "0123456789abcdefABCDEF-") == s.n;
}

enum { PARTS = 12 };

/* The parts of an NQN that can stand for it: shortest first, the whole NQN last. Returns how many. */
static unsigned nqn_parts(struct slice nqn, struct slice parts[PARTS])
{
	char boundary = ':';
	const char *p;
	unsigned n = 0;

	/* an NQN must have a colon; some targets accept others */
	if (!memchr(nqn.p, ':', nqn.n) && nqn.n > 4 && memcmp(nqn.p, "nqn.", 4) == 0)
		boundary = '.';
	for (size_t end = nqn.n; n < PARTS - 1 && (p = memrchr(nqn.p, boundary, end));
	     end = p - nqn.p) {
		struct slice part = {p + 1, nqn.p + nqn.n - p - 1};

		for (size_t i = 8; n < 4 && is_uuid(part) && i < part.n; i++)
			if (part.p[i] == '-')
				parts[n++] = (struct slice){part.p, i};
		if (part.n)
			parts[n++] = part;
	}
	parts[n++] = nqn;
	return n;
}

static uint32_t learn_nqn(struct who_nqns *nqns, struct slice nqn)
{
	uint32_t known = nqns->whole.n, number = add(&nqns->whole, nqn);
	struct slice parts[PARTS];

	if (nqns->whole.n == known)
		return number;
	for (unsigned n = nqn_parts(nqns->whole.all[number], parts), i = 0; i < n; i++) {
		uint32_t cap = nqns->parts.cap, part = add(&nqns->parts, parts[i]);

		nqns->uses = keep_up(nqns->uses, cap, &nqns->parts, sizeof(*nqns->uses));
		nqns->uses[part]++;
	}
	return number;
}

/* The shortest part that no other NQN has. An NQN that is a part of another one keeps its full text as its name. */
static struct slice nqn_name(const struct who_nqns *nqns, uint32_t whole)
{
	struct slice parts[PARTS];
	unsigned n = nqn_parts(nqns->whole.all[whole], parts), i = 0;

	while (i < n - 1 && nqns->uses[intern_get(&nqns->parts, parts[i])] > 1)
		i++;
	return parts[i];
}

/* Numbers a lifetime so that those of its group that overlap have different numbers. Call in the order of begin. */
static void join_group(struct who *w, const struct lifetimes *l, size_t order, struct slice name)
{
	uint32_t known = w->group_names.n, cap = w->group_names.cap, i = add(&w->group_names, name);
	struct who_group *group;

	w->groups = keep_up(w->groups, cap, &w->group_names, sizeof(*w->groups));
	group = &w->groups[i];
	if (w->group_names.n > known)
		group->newest = SIZE_MAX;
	while (group->newest != SIZE_MAX && l->all[group->newest]->end < l->all[order]->begin)
		group->newest = w->qpairs[group->newest].older;
	group->number = group->newest == SIZE_MAX ? 1 : group->number + 1;
	w->qpairs[order].number = group->number;
	w->qpairs[order].older = group->newest;
	group->newest = order;
}

static void forget(struct who_qpair *qpair)
{
	free((char *)qpair->name.text.p);
	free((char *)qpair->qid.p);
}

/* Learns what the lifetime's line says, in the place of what an earlier one said. */
static void learn(struct who *w, const struct lifetimes *l, size_t order)
{
	struct slice fields = l->all[order]->fields, host = {}, subsystem = {}, qid = {"", 0};
	struct who_qpair *qpair = &w->qpairs[order];
	/* qid is in the text twice: alone, and in the name of the group */
	char *plain = allocate(NULL, fields.n + 1, 1),
	     *text = allocate(NULL, 2 * UTF8_VISIBLE(fields.n) + 64, 1), *to = text, *begin;
	struct probeline_field f;
	const char *error;

	while (probeline_next(&fields, &f, &error) > 0) {
		struct slice *known = slice_is(f.key, "hostnqn")  ? &host
				      : slice_is(f.key, "subnqn") ? &subsystem
				      : slice_is(f.key, "qid")    ? &qid
								  : NULL;

		if (!known)
			continue;
		begin = to;
		to = visible(to, (struct slice){plain, probeline_unescape(plain, f.value)});
		*known = (struct slice){begin, to - begin};
	}
	forget(qpair);
	*qpair = (struct who_qpair){.host = MAP_NONE,
				    .revision = l->all[order]->revision,
				    .number = qpair->number,
				    .older = qpair->older};
	if (host.n) {
		qpair->host = learn_nqn(&w->hosts, host);
		qpair->subsystem = subsystem.n ? learn_nqn(&w->subsystems, subsystem) : MAP_NONE;
		qpair->qid = copy(qid);
		begin = to;
		to += sprintf(to, "%u/%u/", qpair->host, qpair->subsystem);
		to = mempcpy(to, qid.p, qid.n);
		if (!qpair->number)
			join_group(w, l, order, (struct slice){begin, to - begin});
	}
	free(plain);
	free(text);
}

static int by_begin(const void *a, const void *b, void *all)
{
	struct lifetime *const *lifetimes = all;
	const struct lifetime *x = lifetimes[*(const size_t *)a],
			      *y = lifetimes[*(const size_t *)b];

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void who_learn(struct who *w, const struct lifetimes *l)
{
	size_t n = l->n - w->num_qpairs, *orders;

	w->lifetimes = l;
	if (!n)
		return;
	orders = allocate(NULL, n, sizeof(*orders));
	for (size_t i = 0; i < n; i++)
		orders[i] = w->num_qpairs + i;
	qsort_r(orders, n, sizeof(*orders), by_begin, l->all);
	if (l->n > w->cap) {
		w->cap = 2 * l->n;
		w->qpairs = allocate(w->qpairs, w->cap, sizeof(*w->qpairs));
	}
	memset(w->qpairs + w->num_qpairs, 0, n * sizeof(*w->qpairs));
	for (size_t i = 0; i < n; i++)
		learn(w, l, orders[i]);
	w->num_qpairs = l->n;
	free(orders);
}

static void make_name(struct who *w, struct who_qpair *qpair)
{
	struct slice host = nqn_name(&w->hosts, qpair->host), subsystem = {};
	char *text, *to;

	/* a single one need not be named */
	if (w->subsystems.whole.n > 1 && qpair->subsystem != MAP_NONE)
		subsystem = nqn_name(&w->subsystems, qpair->subsystem);
	free((char *)qpair->name.text.p);
	text = to = allocate(NULL, host.n + qpair->qid.n + subsystem.n + 32, 1);
	to = mempcpy(to, host.p, host.n);
	if (qpair->qid.n) {
		*to++ = '/';
		to = mempcpy(to, qpair->qid.p, qpair->qid.n);
	}
	if (subsystem.n) {
		*to++ = '@';
		to = mempcpy(to, subsystem.p, subsystem.n);
	}
	if (qpair->number > 1)
		to += sprintf(to, "#%u", qpair->number);
	qpair->name.text = (struct slice){text, to - text};
	qpair->name.width = width_of(qpair->name.text);
}

const struct who_name *who_qpair(struct who *w, const struct lifetime *lifetime)
{
	struct who_qpair *qpair = &w->qpairs[lifetime->order];
	uint64_t known;

	if (qpair->revision != lifetime->revision)
		learn(w, w->lifetimes, lifetime->order);
	known = (uint64_t)w->hosts.whole.n + w->subsystems.whole.n;
	if (qpair->host == MAP_NONE)
		return NULL;
	if (qpair->known != known) {
		make_name(w, qpair);
		qpair->known = known;
	}
	return &qpair->name;
}

const struct who_name *who_owner(struct who *w, struct slice description, struct slice poller)
{
	uint32_t known = w->owner_names.n, cap = w->owner_names.cap, words = w->words.n,
		 i = add(&w->owner_names, description);
	struct slice word, with_poller;
	struct who_name *name;
	char *plain, *text;

	w->owners = keep_up(w->owners, cap, &w->owner_names, sizeof(*w->owners));
	name = &w->owners[i];
	if (w->owner_names.n == known)
		return name;
	plain = allocate(NULL, description.n + 1, 1);
	plain[json_unescape(plain, description)] = 0;
	word.p = plain + strspn(plain, " ");
	word.n = strcspn(word.p, " ");
	/* the name, and behind it the name with the poller */
	text = allocate(NULL, UTF8_VISIBLE(word.n) + poller.n + 2, 1);
	name->text = (struct slice){text, visible(text, word) - text};
	name->width = width_of(name->text);
	if (name->text.n) {
		text[name->text.n] = ' ';
		memcpy(text + name->text.n + 1, poller.p ? poller.p : "", poller.n);
		with_poller = (struct slice){text, name->text.n + 1 + poller.n};
		add(&w->words, name->text);
		if (w->words.n > words)
			add(&w->words, with_poller);
		else
			name->shared = intern_get(&w->words, with_poller) == MAP_NONE;
	}
	free(plain);
	return name;
}

static void free_nqns(struct who_nqns *nqns)
{
	intern_free(&nqns->whole);
	intern_free(&nqns->parts);
	free(nqns->uses);
}

void who_free(struct who *w)
{
	for (size_t i = 0; i < w->num_qpairs; i++)
		forget(&w->qpairs[i]);
	for (uint32_t i = 0; i < w->owner_names.n; i++)
		free((char *)w->owners[i].text.p);
	free_nqns(&w->hosts);
	free_nqns(&w->subsystems);
	intern_free(&w->group_names);
	intern_free(&w->owner_names);
	intern_free(&w->words);
	free(w->groups);
	free(w->owners);
	free(w->qpairs);
	*w = (struct who){};
}
