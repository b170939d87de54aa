/* SPDX-License-Identifier: BSD-3-Clause */
#include "holders.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "search.h"
#include "table.h"

/* Connections that find_most() visits per returned buffer, on average. */
enum { VISITS = 64 };

static bool waits_for_buffer(const struct holders *h, uint32_t state)
{
	return state != MAP_NONE && spans_tpoint(h->spans, state)->layer == LAYER_BUFFER;
}

static bool is_queued(const struct holders *h, uint32_t state)
{
	return state != MAP_NONE && spans_tpoint(h->spans, state)->kind == SPDK_SOCKET_WRITE;
}

static void free_area(void *tool)
{
	struct holders_span *area = tool;

	free(area->facts);
	free(area->entries);
	*area = (struct holders_span){};
}

void holders_start(struct holders *h, struct spans *spans, struct connections *connections)
{
	*h = (struct holders){.spans = spans, .connections = connections};
	spans->store.tool_size = sizeof(struct holders_span);
	spans->store.free_tool = free_area;
}

/* The counts of a connection; NULL: it is not known, since a poller alone may be that of several. */
static struct holders_connection *counts_of(struct holders *h, uint32_t connection)
{
	if (connection == MAP_NONE || h->connections->all[connection].kind == CONNECTION_POLLER)
		return NULL;
	return table_at(h->counts, h->num_counts, h->cap_counts, connection);
}

static void leave(struct holders *h, const struct span *s, uint32_t state)
{
	struct holders_connection *counts = counts_of(h, s->connection);

	h->waiting -= waits_for_buffer(h, state) && h->waiting;
	if (is_queued(h, state) && counts)
		counts->queued -= counts->queued > 0;
}

/* Notes the number of those that were already waiting or queued. */
static void enter(struct holders *h, const struct span *s, uint32_t state, struct holders_fact *fact)
{
	struct holders_connection *counts = counts_of(h, s->connection);

	if (waits_for_buffer(h, state))
		fact->others = h->waiting++;
	if (is_queued(h, state) && counts)
		fact->others = counts->queued++;
}

/* With many connections, h->most may be out of date for a while: this bounds the cost of the search. */
static void find_most(struct holders *h)
{
	h->visits += VISITS;
	if (h->visits < h->num_counts)
		return;
	h->visits = 0;
	for (size_t i = 0; i < h->num_counts; i++)
		if (h->counts[i].holders > h->counts[h->most].holders)
			h->most = i;
}

static void get_buffer(struct holders *h, struct span *s, struct holders_fact *fact)
{
	struct holders_connection *counts = counts_of(h, s->connection);

	if (!counts || holders_of(s)->has_buffer)
		return;
	fact->holders = h->holders;
	fact->holder = h->most;
	fact->held = h->counts[h->most].holders;
	holders_of(s)->has_buffer = true;
	h->holders++;
	counts->holders++;
	if (counts->holders > h->counts[h->most].holders)
		h->most = s->connection;
}

static void return_buffer(struct holders *h, const struct span *s)
{
	if (!holders_of(s)->has_buffer)
		return;
	holders_of(s)->has_buffer = false;
	h->holders--;
	h->counts[s->connection].holders--;
	if (s->connection == h->most)
		find_most(h);
}

static bool is_connection(const struct holders *h, uint32_t number)
{
	return number < h->connections->n && h->connections->all[number].kind < CONNECTION_OWNER;
}

/* In the result of holders_who(): a number in words. */
static const uint32_t WORD = 1U << 31;

/* Names are for terminals. */
static uint32_t word_of(struct holders *h, struct slice tpoint)
{
	const char *end = memchr(tpoint.p, '_', tpoint.n);

	out_visible(out_start(&h->text), end ? slice_between(tpoint.p, end) : tpoint);
	return WORD | intern_add(&h->words, out_contents(&h->text));
}

/* Whom the entries of a span are for, by its first one. */
static uint32_t who_of_span(struct holders *h, const struct span *s)
{
	uint32_t above = s->parent ? holders_of(s->parent)->who : MAP_NONE;

	if (above != MAP_NONE && is_connection(h, above))
		return above;
	return s->connection != MAP_NONE ? s->connection : word_of(h, h->spans->states->all[s->states[0].state]);
}

uint32_t holders_who(struct holders *h, struct span *s, const struct traceline *line)
{
	uint32_t connection;
	size_t arg;

	if (s) {
		/* a request holds its buffer until it ends */
		if (s->end.expected && holders_of(s)->has_buffer)
			return_buffer(h, s);
		return holders_of(s)->who;
	}
	connection = connections_find(h->connections, line, &arg);
	return connection == MAP_NONE ? word_of(h, line->tpoint) : connection;
}

struct slice holders_who_name(struct holders *h, uint32_t who)
{
	return who & WORD ? h->words.all[who & ~WORD] : connections_name(h->connections, who)->name;
}

/* Whether something is counted while an object is in a state. */
static bool has_fact(const struct holders *h, uint32_t state)
{
	const struct spdk_tpoint *tpoint;

	if (state == MAP_NONE)
		return false;
	tpoint = spans_tpoint(h->spans, state);
	return tpoint->layer == LAYER_BUFFER || tpoint->kind == SPDK_SOCKET_WRITE;
}

/* The fact about the state with this index, if it is the latest one. */
static struct holders_fact *latest_fact(const struct span *s, size_t state)
{
	const struct holders_span *area = holders_of(s);

	if (!area->num_facts || area->facts[area->num_facts - 1].state != state)
		return NULL;
	return &area->facts[area->num_facts - 1];
}

static struct holders_fact *add_fact(const struct span *s, size_t state)
{
	struct holders_span *area = holders_of(s);
	/* in a span of SPANS_STATES states, each further one replaces the last one */
	struct holders_fact *fact = latest_fact(s, state);

	if (!fact) {
		area->facts = mem_room(area->facts, area->num_facts, &area->cap_facts);
		fact = &area->facts[area->num_facts++];
	}
	*fact = (struct holders_fact){.state = state};
	return fact;
}

static void complete_fact(struct holders *h, struct span *s, uint32_t before)
{
	struct holders_fact *fact = latest_fact(s, s->n - 2), none = {};

	leave(h, s, before);
	/* it may have been replaced */
	if (waits_for_buffer(h, before))
		get_buffer(h, s, fact ? fact : &none);
}

void holders_store(struct holders *h, struct span *s, uint32_t before)
{
	uint32_t state = s->states[s->n - 1].state;

	if (before == MAP_NONE) {
		holders_of(s)->num_facts = 0;
		holders_of(s)->who = who_of_span(h, s);
	}
	if (has_fact(h, before))
		complete_fact(h, s, before);
	if (has_fact(h, state))
		enter(h, s, state, add_fact(s, s->n - 1));
}

void holders_end(struct holders *h, const struct span *s)
{
	leave(h, s, s->states[s->n - 1].state);
	return_buffer(h, s);
}

/*
 * The span that waited until this entry: the one that went on after it, or that started another one then; and the index
 * of its state.
 */
static const struct span *waiting_span(const struct holders *h, const struct waits *waits, size_t end, size_t *state)
{
	const struct span *s;
	uint32_t order;

	if (end == waits->n) {
		s = life_innermost(h->spans, waits->root);
		*state = s->n - 1;
		return s;
	}
	s = waits->entries[end].span;
	*state = waits->entries[end].state - 1;
	if (*state != SIZE_MAX)
		return s;
	s = s->parent;
	order = waits_state(waits, end)->order;
	/* SIZE_MAX: it had not started by then */
	if (s)
		*state = search_first(i, s->n, (int32_t)(s->states[i].order - order) >= 0) - 1;
	return *state == SIZE_MAX ? NULL : s;
}

enum layer holders_layer(const struct holders *h, const struct waits *waits, size_t entry)
{
	uint64_t from, to = entry < waits->n ? waits_state(waits, entry)->ns : life_until(h->spans, waits->root);
	const struct span *s;
	size_t state;

	s = entry ? waiting_span(h, waits, entry, &state) : NULL;
	if (!s)
		return LAYER_UNKNOWN;
	from = waits_state(waits, entry - 1)->ns;
	/* it counts for the layer that most of it is in */
	return replies_start(s) <= from + (to - from) / 2 ? LAYER_REPLY
							  : spans_layer(h->spans, s, s->states[state].state);
}

static const struct holders_fact *find_fact(const struct span *s, size_t state)
{
	const struct holders_span *area = holders_of(s);
	size_t i = search_first(k, area->num_facts, area->facts[k].state >= state);

	return i < area->num_facts && area->facts[i].state == state ? &area->facts[i] : NULL;
}

static struct lcores_moment moment_of(const struct span_state *at)
{
	return (struct lcores_moment){at->ns, at->order, at->lcore, at->entry};
}

/* Whether a comes before b. */
static bool is_longer(const struct lcores_sum *a, const struct lcores_sum *b)
{
	return a->ns > b->ns || (a->ns == b->ns && a->entries > b->entries);
}

/* There are few. */
static void sort_sums(struct lcores_sums *sums)
{
	for (size_t i = 1; i < sums->n; i++) {
		struct lcores_sum sum = sums->all[i];
		size_t k = i;

		for (; k && is_longer(&sum, &sums->all[k - 1]); k--)
			sums->all[k] = sums->all[k - 1];
		sums->all[k] = sum;
	}
}

void holders_explain(struct holders *h, const struct waits *waits, const struct wait *wait, struct holders_wait *known)
{
	struct lcores_moment from, to = {life_until(h->spans, waits->root), h->spans->lines + 1, MAP_NONE, 0};
	struct lcores_sums *sums = &h->work.sums;
	const struct span *s;
	size_t state;

	*known = (struct holders_wait){
		.ns = wait->ns, .state = MAP_NONE, .layer = LAYER_UNKNOWN, .lcore = MAP_NONE, .work = &h->work};
	if (!wait->end)
		return;
	from = moment_of(waits_state(waits, wait->end - 1));
	known->at = from.ns > waits->root->first ? from.ns - waits->root->first : 0;
	known->lcore = from.lcore;
	s = waiting_span(h, waits, wait->end, &state);
	if (s) {
		known->state = s->states[state].state;
		known->tpoint = spans_tpoint(h->spans, known->state);
		known->layer = spans_layer(h->spans, s, known->state);
		known->fact = find_fact(s, state);
	}
	if (wait->end < waits->n)
		to = moment_of(waits_state(waits, wait->end));
	lcores_work(&h->spans->lcores, &from, &to, &h->work);
	sort_sums(sums);
}

static bool is_of_one_host(const struct holders *h, uint32_t a, uint32_t b)
{
	const struct connection *all = h->connections->all;

	return !(a & WORD) && !(b & WORD) && all[a].host != MAP_NONE && all[a].host == all[b].host;
}

static void add_to_groups(struct holders *h, const struct lcores_sum *sum)
{
	size_t i = 0;

	while (i < h->num_groups && !is_of_one_host(h, h->groups[i].who, sum->who))
		i++;
	if (i == h->num_groups) {
		h->groups = mem_room(h->groups, h->num_groups, &h->cap_groups);
		h->groups[h->num_groups++] = (struct holders_group){.who = sum->who};
	}
	h->groups[i].entries += sum->entries;
	h->groups[i].ns += sum->ns;
	h->groups[i].members++;
}

void holders_find_groups(struct holders *h, const struct lcores_work *work)
{
	h->num_groups = 0;
	for (size_t i = 0; i < work->sums.n; i++)
		add_to_groups(h, &work->sums.all[i]);
}

void holders_free(struct holders *h)
{
	free(h->counts);
	intern_free(&h->words);
	free(h->groups);
	out_close(&h->text);
	lcores_work_free(&h->work);
}
