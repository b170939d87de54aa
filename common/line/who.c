/* SPDX-License-Identifier: BSD-3-Clause */
#include "who.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "probeline.h"

static struct out *start_text(struct who *w)
{
	w->text.len = 0;
	return &w->text;
}

/* Like out_visible(), but reversible, and without blanks, because they separate columns. */
static void write_visible(struct out *out, struct slice s)
{
	while (s.n) {
		size_t n = 0;

		while (n < s.n && s.p[n] != ' ' && s.p[n] != '\\')
			n++;
		out_visible(out, slice_cut(&s, n));
		if (s.n)
			out_printf(out, "\\x%02x", *slice_cut(&s, 1).p);
	}
}

/* The value of a field in that form; valid until the next text. */
static struct slice visible(struct who *w, struct slice value)
{
	struct slice plain = probeline_decode(value);
	struct out *out = start_text(w);

	write_visible(out, plain);
	free((char *)plain.p);
	return out_contents(out);
}

static unsigned width_of(struct slice s)
{
	unsigned width = 0;

	for (size_t i = 0; i < s.n; i++)
		width += (s.p[i] & 0xc0) != 0x80;
	return width;
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

static uint32_t learn_nqn(struct who_nqns *nqns, struct slice nqn)
{
	uint32_t known = nqns->whole.n, number = intern_add(&nqns->whole, nqn);
	struct slice parts[PARTS];

	if (nqns->whole.n == known)
		return number;
	for (unsigned n = nqn_parts(nqns->whole.all[number], parts), i = 0; i < n; i++) {
		uint32_t part = intern_add(&nqns->parts, parts[i]);

		if (part == nqns->num_uses) {
			nqns->uses = mem_room(nqns->uses, nqns->num_uses, &nqns->cap_uses);
			nqns->uses[nqns->num_uses++] = 0;
		}
		nqns->uses[part]++;
	}
	return number;
}

/* The shortest part that no other NQN has; the whole NQN when it is a part of another. */
static struct slice nqn_name(const struct who_nqns *nqns, uint32_t whole)
{
	struct slice parts[PARTS];
	unsigned n = nqn_parts(nqns->whole.all[whole], parts), i = 0;

	while (i < n - 1 && nqns->uses[intern_get(&nqns->parts, parts[i])] > 1)
		i++;
	return parts[i];
}

/* Gives overlapping lifetimes of a group different numbers. Call it in the order of begin. */
static void join_group(struct who *w, const struct lifetimes *l, size_t order, struct slice name)
{
	uint32_t i = intern_add(&w->group_names, name);
	struct who_group *group;

	if (i == w->num_groups) {
		w->groups = mem_room(w->groups, w->num_groups, &w->cap_groups);
		w->groups[w->num_groups++] = (struct who_group){.newest = SIZE_MAX};
	}
	group = &w->groups[i];
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

/* Learns the fields of a lifetime's line, in place of those of an earlier line. */
static void learn(struct who *w, const struct lifetimes *l, size_t order)
{
	struct slice fields = l->all[order]->fields, host = {}, subsystem = {}, qid = {"", 0};
	struct who_qpair *qpair = &w->qpairs[order];
	struct probeline_field f;
	const char *error;
	struct out *group;

	while (probeline_next(&fields, &f, &error) > 0)
		if (slice_is(f.key, "hostnqn"))
			host = f.value;
		else if (slice_is(f.key, "subnqn"))
			subsystem = f.value;
		else if (slice_is(f.key, "qid"))
			qid = f.value;
	forget(qpair);
	*qpair = (struct who_qpair){.host = MAP_NONE,
				    .subsystem = MAP_NONE,
				    .revision = l->all[order]->revision,
				    .number = qpair->number,
				    .older = qpair->older};
	if (!host.n)
		return;
	qpair->host = learn_nqn(&w->hosts, visible(w, host));
	if (subsystem.n)
		qpair->subsystem = learn_nqn(&w->subsystems, visible(w, subsystem));
	qpair->qid = mem_slice(visible(w, qid));
	if (qpair->number)
		return;
	group = start_text(w);
	out_printf(group, "%u/%u/", qpair->host, qpair->subsystem);
	out_slice(group, qpair->qid);
	join_group(w, l, order, out_contents(group));
}

static int by_begin(const void *a, const void *b, void *all)
{
	struct lifetime *const *lifetimes = all;
	const struct lifetime *x = lifetimes[*(const size_t *)a], *y = lifetimes[*(const size_t *)b];

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
	orders = mem_array(n, sizeof(*orders));
	for (size_t i = 0; i < n; i++) {
		orders[i] = w->num_qpairs;
		w->qpairs = mem_room(w->qpairs, w->num_qpairs, &w->cap_qpairs);
		w->qpairs[w->num_qpairs++] = (struct who_qpair){};
	}
	qsort_r(orders, n, sizeof(*orders), by_begin, l->all);
	for (size_t i = 0; i < n; i++)
		learn(w, l, orders[i]);
	free(orders);
}

static void make_name(struct who *w, struct who_qpair *qpair)
{
	struct out *name = start_text(w);

	out_slice(name, nqn_name(&w->hosts, qpair->host));
	if (qpair->qid.n) {
		out_char(name, '/');
		out_slice(name, qpair->qid);
	}
	/* a single subsystem need not be named */
	if (w->subsystems.whole.n > 1 && qpair->subsystem != MAP_NONE) {
		out_char(name, '@');
		out_slice(name, nqn_name(&w->subsystems, qpair->subsystem));
	}
	if (qpair->number > 1)
		out_printf(name, "#%u", qpair->number);
	free((char *)qpair->name.text.p);
	qpair->name.text = mem_slice(out_contents(name));
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

/* The first word of a description, as a name. It is shared if another poller had it before. */
static struct who_name first_word(struct who *w, struct slice description, struct slice poller)
{
	struct slice plain = json_decode(description);
	struct out *out = start_text(w);
	uint32_t words = w->words.n;
	struct who_name name = {};
	const char *word;

	word = plain.p + strspn(plain.p, " ");
	write_visible(out, (struct slice){word, strcspn(word, " ")});
	free((char *)plain.p);
	name.text = mem_slice(out_contents(out));
	name.width = width_of(name.text);
	if (!name.text.n)
		return name;
	intern_add(&w->words, name.text);
	out_char(out, ' ');
	out_slice(out, poller);
	if (w->words.n > words)
		intern_add(&w->words, out_contents(out));
	else
		name.shared = intern_get(&w->words, out_contents(out)) == MAP_NONE;
	return name;
}

const struct who_name *who_owner(struct who *w, struct slice description, struct slice poller)
{
	uint32_t i = intern_add(&w->owner_names, description);

	if (i == w->num_owners) {
		w->owners = mem_room(w->owners, w->num_owners, &w->cap_owners);
		w->owners[w->num_owners++] = first_word(w, description, poller);
	}
	return &w->owners[i];
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
	for (size_t i = 0; i < w->num_owners; i++)
		free((char *)w->owners[i].text.p);
	free_nqns(&w->hosts);
	free_nqns(&w->subsystems);
	intern_free(&w->group_names);
	intern_free(&w->owner_names);
	intern_free(&w->words);
	free(w->groups);
	free(w->owners);
	free(w->qpairs);
	out_close(&w->text);
	*w = (struct who)WHO_NONE;
}
