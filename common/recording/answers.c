/* SPDX-License-Identifier: BSD-3-Clause */
#include "answers.h"

#include <stdlib.h>

#include "json.h"
#include "mem.h"
#include "minmax.h"
#include "number.h"
#include "search.h"

enum {
	NQN_MAX = 223,  /* bytes, of NVMe */
	PEER_MAX = 288, /* of SPDK's addresses and ports together */
	/* many more than a target can have, and few enough for hostile input */
	ANSWERS_MAX = 1 << 20,
	CANDIDATES_MAX = 1024, /* owners of one address that are examined for a qpair */
};

/* The number of a JSON string in names; MAP_NONE if the value is not a string, or is empty or too long. */
static uint32_t name_of(struct answers *a, struct slice value, size_t max)
{
	uint32_t number = MAP_NONE;
	struct slice text;

	if (!value.n || *value.p != '"')
		return MAP_NONE;
	text = json_decode(json_unquoted(value));
	if (text.n && text.n <= max)
		number = intern_add(&a->names, text);
	free((char *)text.p);
	return number;
}

/* The number of the address and port of a qpair in names; MAP_NONE if one is missing or too long. */
static uint32_t peer_of(struct answers *a, struct slice address)
{
	struct slice host = json_decode(json_unquoted(json_member(address, slice_of("traddr"))));
	struct slice port = json_decode(json_unquoted(json_member(address, slice_of("trsvcid"))));
	uint32_t number = MAP_NONE;
	uint64_t value;

	if (host.n && number_decimal(port, &value) && host.n + 1 + port.n <= PEER_MAX) {
		char *text = mem_resize(NULL, host.n + 1 + port.n, 1);

		memcpy(text, host.p, host.n);
		text[host.n] = ':';
		memcpy(text + host.n + 1, port.p, port.n);
		number = intern_add(&a->names, (struct slice){text, host.n + 1 + port.n});
		free(text);
	}
	free((char *)host.p);
	free((char *)port.p);
	return number;
}

static void add_qpair(struct answers *a, struct answer q, struct slice element)
{
	struct slice address = json_member(element, slice_of("peer_address"));

	if (!number_decimal(json_member(element, slice_of("cntlid")), &q.cntlid) ||
	    !number_decimal(json_member(element, slice_of("qid")), &q.qid)) {
		a->malformed++;
		return;
	}
	if (a->n == ANSWERS_MAX) {
		a->too_many++;
		return;
	}
	q.tcp = slice_is(json_member(address, slice_of("trtype")), "\"TCP\"");
	q.peer = peer_of(a, address);
	q.hostnqn = name_of(a, json_member(element, slice_of("hostnqn")), NQN_MAX);
	mem_add(a->all, a->n, a->cap, q);
}

static const char *add_qpairs(struct answers *a, struct answer q, struct slice result)
{
	struct slice element;
	struct json j;

	a->called = a->n;
	a->subnqn = q.subnqn;
	a->lists++;
	json_init(&j, result.p, result.n);
	for (json_array(&j); json_element(&j) && json_value(&j, &element);)
		add_qpair(a, q, element);
	return j.error;
}

/* Names the hosts of the qpairs of the answer before this one, by their controllers. */
static const char *add_controllers(struct answers *a, struct slice result)
{
	struct map hosts = {}; /* of controllers */
	struct slice element;
	struct json j;

	json_init(&j, result.p, result.n);
	for (json_array(&j); json_element(&j) && json_value(&j, &element);) {
		uint32_t host = name_of(a, json_member(element, slice_of("hostnqn")), NQN_MAX);
		uint64_t cntlid;

		if (number_decimal(json_member(element, slice_of("cntlid")), &cntlid) && host != MAP_NONE)
			*map_put(&hosts, cntlid) = host;
		else
			a->malformed++;
	}
	for (size_t i = a->called; i < a->n; i++)
		if (a->all[i].hostnqn == MAP_NONE)
			a->all[i].hostnqn = map_get(&hosts, a->all[i].cntlid);
	map_free(&hosts);
	/* later answers describe a later moment */
	a->subnqn = MAP_NONE;
	return j.error;
}

const char *answers_add(void *context, struct slice line)
{
	struct answers *a = context;
	struct answer q = {};
	struct slice method, result;
	bool qpairs, controllers;
	struct json j;

	json_init(&j, line.p, line.n);
	if (!json_skip(&j) || !json_end(&j))
		return j.error;
	method = json_unquoted(json_member(line, slice_of("method")));
	result = json_member(line, slice_of("result"));
	qpairs = json_is(method, "nvmf_subsystem_get_qpairs");
	controllers = json_is(method, "nvmf_subsystem_get_controllers");
	/* a failed method has no result */
	if ((!qpairs && !controllers) || !result.n)
		return NULL;
	q.subnqn = name_of(a, json_path(line, slice_of("params.nqn")), NQN_MAX);
	if (q.subnqn == MAP_NONE)
		return "params.nqn, the name of a subsystem, is missing";
	if (controllers)
		return q.subnqn == a->subnqn ? add_controllers(a, result) : NULL;
	if (!number_decimal(json_member(line, slice_of("begin")), &q.begin) ||
	    !number_decimal(json_member(line, slice_of("end")), &q.end) || q.end < q.begin)
		q.end = 0;
	return add_qpairs(a, q, result);
}

/* The owners that have the address of a qpair, sorted by address and then by registration. */
struct addresses {
	struct address {
		uint32_t peer;
		struct owner *owner;
	} * all;
	size_t n;
};

static int by_address(const void *a, const void *b)
{
	const struct address *x = a, *y = b;

	/* the array has them in the order of registration */
	return ORDER(x->peer, y->peer) ?: ORDER(x->owner, y->owner);
}

static void list_addresses(struct addresses *list, const struct answers *a, const struct owners *o)
{
	list->all = mem_array(o->num_tcp, sizeof(*list->all));
	for (size_t i = 0; i < o->num_tcp; i++) {
		uint32_t peer = intern_get(&a->names, o->tcp[i]->peer);

		if (peer != MAP_NONE)
			list->all[list->n++] = (struct address){peer, o->tcp[i]};
	}
	if (list->n)
		qsort(list->all, list->n, sizeof(*list->all), by_address);
}

/* Whether an owner with the qpair's address may belong to the qpair. */
static bool may_be(const struct owner *owner, const struct answers *a, const struct answer *q)
{
	struct slice described = owner->subnqn, subnqn = a->names.all[q->subnqn];

	if (owner->end < q->begin || owner->end < owner->tsc || (owner->has_qid && owner->qid != q->qid))
		return false;
	/* the host had not connected yet when it was read */
	if (!described.n)
		return true;
	if (!owner->cut)
		return slice_equal(described, subnqn);
	/* more words may follow the name */
	if (described.n > subnqn.n && described.p[subnqn.n] == ' ')
		described.n = subnqn.n;
	return described.n <= subnqn.n && memcmp(described.p, subnqn.p, described.n) == 0;
}

static enum answers_reason find_owner(const struct addresses *list, const struct answers *a, const struct owners *o,
				      struct answer *q)
{
	struct owner *found = NULL;
	unsigned seen = 0;
	size_t i;

	if (!q->end)
		return ANSWERS_NO_TIME;
	if (q->peer == MAP_NONE)
		return ANSWERS_NO_ADDRESS;
	if (!q->tcp)
		return ANSWERS_TRANSPORT;
	if (q->hostnqn == MAP_NONE)
		return ANSWERS_NO_HOST;
	i = search_first(at, list->n,
			 list->all[at].peer > q->peer ||
				 (list->all[at].peer == q->peer && list->all[at].owner->tsc > q->end));
	for (; i-- > 0 && list->all[i].peer == q->peer;) {
		bool fits = may_be(list->all[i].owner, a, q);

		if (++seen > CANDIDATES_MAX || (found && fits))
			return ANSWERS_AMBIGUOUS;
		found = fits ? list->all[i].owner : found;
	}
	if (!found)
		return ANSWERS_UNREGISTERED;
	if (q->begin < o->whole_since)
		return ANSWERS_REPLACED;
	q->owner = found;
	return ANSWERS_NAMED;
}

static bool same_names(const struct answer *x, const struct answer *y)
{
	return x->subnqn == y->subnqn && x->hostnqn == y->hostnqn && x->qid == y->qid;
}

void answers_match(struct answers *a, struct owners *o)
{
	struct addresses list = {};

	list_addresses(&list, a, o);
	for (size_t i = 0; i < a->n; i++) {
		struct answer *q = &a->all[i];

		q->reason = find_owner(&list, a, o, q);
		if (!q->owner)
			continue;
		if (!q->owner->answer)
			q->owner->answer = q;
		q->owner->contradicted |= !same_names(q->owner->answer, q);
	}
	for (size_t i = 0; i < a->n; i++) {
		struct answer *q = &a->all[i];

		if (q->owner && q->owner->contradicted)
			q->reason = ANSWERS_CONTRADICTED;
	}
	free(list.all);
}

static int by_connection(const void *a, const void *b)
{
	const struct answer *x = *(const struct answer *const *)a, *y = *(const struct answer *const *)b;
	int order = ORDER(x->peer, y->peer) ?: ORDER(x->subnqn, y->subnqn) ?: ORDER(x->cntlid, y->cntlid);

	return order ?: ORDER(x->qid, y->qid) ?: ORDER(x->hostnqn, y->hostnqn);
}

void answers_count(const struct answers *a, size_t counts[ANSWERS_REASONS])
{
	const struct answer **sorted = mem_array(a->n, sizeof(struct answer *));
	enum answers_reason reason = ANSWERS_NAMED;

	for (size_t i = 0; i < a->n; i++)
		sorted[i] = &a->all[i];
	if (a->n)
		qsort(sorted, a->n, sizeof(struct answer *), by_connection);
	for (size_t i = 0; i < a->n; i++) {
		/* if one answer names it, it has its name */
		if (!i || by_connection(&sorted[i - 1], &sorted[i]) != 0 || sorted[i]->reason == ANSWERS_NAMED)
			reason = sorted[i]->reason;
		if (i + 1 == a->n || by_connection(&sorted[i], &sorted[i + 1]) != 0)
			counts[reason]++;
	}
	free(sorted);
}

void answers_free(struct answers *a)
{
	free(a->all);
	intern_free(&a->names);
	*a = (struct answers){};
}
