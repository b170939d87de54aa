/* SPDX-License-Identifier: BSD-3-Clause */
#include "causes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "count.h"
#include "mem.h"
#include "minmax.h"
#include "search.h"
#include "table.h"

/* Connections that find_most() visits per returned buffer, on average. */
enum { VISITS = 64 };

static bool waits_for_buffer(const struct causes *c, uint32_t state)
{
	return state != MAP_NONE && spans_tpoint(c->spans, state)->layer == LAYER_BUFFER;
}

static bool is_queued(const struct causes *c, uint32_t state)
{
	return state != MAP_NONE && spans_tpoint(c->spans, state)->kind == SPDK_SOCKET_WRITE;
}

static void free_area(void *tool)
{
	struct causes_span *area = tool;

	free(area->facts);
	free(area->entries);
	*area = (struct causes_span){};
}

void causes_start(struct causes *c, struct spans *spans, struct connections *connections)
{
	*c = (struct causes){.spans = spans, .connections = connections};
	spans->tool_size = sizeof(struct causes_span);
	spans->free_tool = free_area;
}

/* The counts of a connection; NULL: it is not known, since a poller alone may be that of several. */
static struct causes_connection *counts_of(struct causes *c, uint32_t connection)
{
	if (connection == MAP_NONE || c->connections->all[connection].kind == CONNECTION_POLLER)
		return NULL;
	return table_at(c->counts, c->num_counts, c->cap_counts, connection);
}

/* Most tracepoints are found by their lengths. */
static const struct spdk_tpoint *tpoint_of(struct causes *c, struct slice name)
{
	struct causes_recent *recent = &c->recent[name.n % COUNT(c->recent)];
	const struct intern *states = c->spans->states;

	if (!recent->tpoint || !slice_equal(states->all[recent->state], name)) {
		recent->tpoint = spans_tpoint_of(c->spans, name);
		recent->state = intern_get(states, name);
	}
	return recent->tpoint;
}

static bool receives_pdu(struct causes *c, const struct traceline *line)
{
	const struct spdk_tpoint *tpoint = tpoint_of(c, line->tpoint);
	uint64_t state;

	return tpoint->kind == SPDK_QPAIR_RECEIVE && traceline_number(traceline_arg(line, tpoint->state), &state) &&
	       state == SPDK_HAS_PDU;
}

static void count_pdu(struct causes *c, const struct traceline *line, uint32_t connection)
{
	struct causes_connection *counts = counts_of(c, connection);

	if (!counts)
		counts = counts_of(c, connections_qpair(c->connections, line, line->object_value));
	if (counts)
		counts->pdus++;
}

static void leave(struct causes *c, const struct span *s, uint32_t state)
{
	struct causes_connection *counts = counts_of(c, s->connection);

	c->waiting -= waits_for_buffer(c, state) && c->waiting;
	if (is_queued(c, state) && counts)
		counts->queued -= counts->queued > 0;
}

/* Notes the number of those that were already waiting or queued. */
static void enter(struct causes *c, const struct span *s, uint32_t state, struct causes_fact *fact)
{
	struct causes_connection *counts = counts_of(c, s->connection);

	if (waits_for_buffer(c, state))
		fact->others = c->waiting++;
	if (is_queued(c, state) && counts)
		fact->others = counts->queued++;
	fact->pdus = counts ? counts->pdus : 0;
}

/* With many connections, c->most may be out of date for a while: this bounds the cost of the search. */
static void find_most(struct causes *c)
{
	c->visits += VISITS;
	if (c->visits < c->num_counts)
		return;
	c->visits = 0;
	for (size_t i = 0; i < c->num_counts; i++)
		if (c->counts[i].holders > c->counts[c->most].holders)
			c->most = i;
}

static void get_buffer(struct causes *c, struct span *s, struct causes_fact *fact)
{
	struct causes_connection *counts = counts_of(c, s->connection);

	if (!counts || causes_of(s)->has_buffer)
		return;
	fact->holders = c->holders;
	fact->holder = c->most;
	fact->held = c->counts[c->most].holders;
	causes_of(s)->has_buffer = true;
	c->holders++;
	counts->holders++;
	if (counts->holders > c->counts[c->most].holders)
		c->most = s->connection;
}

static void return_buffer(struct causes *c, const struct span *s)
{
	if (!causes_of(s)->has_buffer)
		return;
	causes_of(s)->has_buffer = false;
	c->holders--;
	c->counts[s->connection].holders--;
	if (s->connection == c->most)
		find_most(c);
}

static bool is_connection(const struct causes *c, uint32_t number)
{
	return number < c->connections->n && c->connections->all[number].kind < CONNECTION_OWNER;
}

/* In the result of causes_who(): a number in words. */
static const uint32_t WORD = 1U << 31;

/* Names are for terminals. */
static uint32_t word_of(struct causes *c, struct slice tpoint)
{
	const char *end = memchr(tpoint.p, '_', tpoint.n);

	c->text.fd = OUT_MEMORY;
	c->text.len = 0;
	out_visible(&c->text, end ? slice_between(tpoint.p, end) : tpoint);
	return WORD | intern_add(&c->words, out_contents(&c->text));
}

/* Whom the entries of a span are for, by its first one. */
static uint32_t who_of_span(struct causes *c, const struct span *s)
{
	uint32_t above = s->parent ? causes_of(s->parent)->who : MAP_NONE;

	if (above != MAP_NONE && is_connection(c, above))
		return above;
	return s->connection != MAP_NONE ? s->connection : word_of(c, c->spans->states->all[s->states[0].state]);
}

uint32_t causes_who(struct causes *c, struct span *s, const struct traceline *line)
{
	uint32_t connection;
	size_t arg;

	if (s) {
		/* a request holds its buffer until it ends */
		if (s->expected && causes_of(s)->has_buffer)
			return_buffer(c, s);
		return causes_of(s)->who;
	}
	connection = connections_find(c->connections, line, &arg);
	if (receives_pdu(c, line))
		count_pdu(c, line, connection);
	return connection == MAP_NONE ? word_of(c, line->tpoint) : connection;
}

struct slice causes_who_name(struct causes *c, uint32_t who)
{
	return who & WORD ? c->words.all[who & ~WORD] : connections_name(c->connections, who)->name;
}

/* Whether something is counted while an object is in a state. */
static bool has_fact(const struct causes *c, uint32_t state)
{
	const struct spdk_tpoint *tpoint;

	if (state == MAP_NONE)
		return false;
	tpoint = spans_tpoint(c->spans, state);
	return tpoint->layer == LAYER_BUFFER || tpoint->layer == LAYER_HOST || tpoint->kind == SPDK_SOCKET_WRITE;
}

/* The fact about the state with this index, if it is the latest one. */
static struct causes_fact *latest_fact(const struct span *s, size_t state)
{
	const struct causes_span *area = causes_of(s);

	if (!area->num_facts || area->facts[area->num_facts - 1].state != state)
		return NULL;
	return &area->facts[area->num_facts - 1];
}

static struct causes_fact *add_fact(const struct span *s, size_t state)
{
	struct causes_span *area = causes_of(s);
	/* in a span of SPANS_STATES states, each further one replaces the last one */
	struct causes_fact *fact = latest_fact(s, state);

	if (!fact) {
		area->facts = mem_room(area->facts, area->num_facts, &area->cap_facts);
		fact = &area->facts[area->num_facts++];
	}
	*fact = (struct causes_fact){.state = state};
	return fact;
}

static void complete_fact(struct causes *c, struct span *s, uint32_t before)
{
	const struct causes_connection *counts = counts_of(c, s->connection);
	struct causes_fact *fact = latest_fact(s, s->n - 2), none = {};

	leave(c, s, before);
	/* it was replaced */
	fact = fact ? fact : &none;
	fact->received = counts ? counts->pdus - fact->pdus : 0;
	if (waits_for_buffer(c, before))
		get_buffer(c, s, fact);
}

void causes_store(struct causes *c, struct span *s, uint32_t before)
{
	uint32_t state = s->states[s->n - 1].state;

	if (before == MAP_NONE) {
		causes_of(s)->num_facts = 0;
		causes_of(s)->who = who_of_span(c, s);
	}
	if (has_fact(c, before))
		complete_fact(c, s, before);
	if (has_fact(c, state))
		enter(c, s, state, add_fact(s, s->n - 1));
}

void causes_end(struct causes *c, const struct span *s)
{
	leave(c, s, s->states[s->n - 1].state);
	return_buffer(c, s);
}

/* The state that a span was in before a place in the trace; SIZE_MAX: it had not started. */
static size_t state_before(const struct span *s, uint32_t order)
{
	return search_first(i, s->n, (int32_t)(s->states[i].order - order) >= 0) - 1;
}

/* The innermost span that is open, as far as the one that started last is. */
static const struct span *innermost(const struct spans *spans, const struct span *s)
{
	const struct span *open;

	while ((open = spans_open_child(spans, s)))
		s = open;
	return s;
}

/*
 * The span that waited until this entry: the one that went on after it, or that started another one then; and the index
 * of its state.
 */
static const struct span *waiting_span(const struct causes *c, const struct waits *waits, size_t end, size_t *state)
{
	const struct span *s;

	if (end == waits->n) {
		s = innermost(c->spans, waits->root);
		*state = s->n - 1;
		return s;
	}
	s = waits->entries[end].span;
	*state = waits->entries[end].state - 1;
	if (*state != SIZE_MAX)
		return s;
	if (s->parent)
		*state = state_before(s->parent, waits_state(waits, end)->order);
	return *state == SIZE_MAX ? NULL : s->parent;
}

/* When the reply of a span, or of one above it, started; UINT64_MAX if none did. */
static uint64_t reply_of(const struct span *s)
{
	uint64_t reply = UINT64_MAX;

	for (; s; s = s->parent)
		reply = min_u64(reply, s->reply);
	return reply;
}

enum layer causes_layer(const struct causes *c, const struct waits *waits, size_t entry)
{
	uint64_t from, to = entry < waits->n ? waits_state(waits, entry)->ns : spans_until(c->spans, waits->root);
	const struct span *s;
	size_t state;

	s = entry ? waiting_span(c, waits, entry, &state) : NULL;
	if (!s)
		return LAYER_UNKNOWN;
	from = waits_state(waits, entry - 1)->ns;
	/* it counts for the layer that most of it is in */
	return reply_of(s) <= from + (to - from) / 2 ? LAYER_REPLY : spans_layer(c->spans, s, s->states[state].state);
}

static const struct causes_fact *find_fact(const struct span *s, size_t state)
{
	const struct causes_span *area = causes_of(s);
	size_t i = search_first(k, area->num_facts, area->facts[k].state >= state);

	return i < area->num_facts && area->facts[i].state == state ? &area->facts[i] : NULL;
}

/* PDUs that the connection of a span received while it waited for its data, which the last one had if it came. */
static uint64_t other_pdus(const struct causes *c, const struct span *s, const struct causes_fact *fact, bool is_open)
{
	if (!is_open)
		return fact->received ? fact->received - 1 : 0;
	return s->connection < c->num_counts ? c->counts[s->connection].pdus - fact->pdus : 0;
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

void causes_explain(struct causes *c, const struct waits *waits, const struct wait *wait, struct causes_wait *known)
{
	struct lcores_moment from, to = {spans_until(c->spans, waits->root), c->spans->lines + 1, MAP_NONE, 0};
	struct lcores_sums *sums = &c->work.sums;
	const struct span *s;
	size_t state;

	*known = (struct causes_wait){
		.ns = wait->ns, .state = MAP_NONE, .layer = LAYER_UNKNOWN, .lcore = MAP_NONE, .work = &c->work};
	if (!wait->end)
		return;
	from = moment_of(waits_state(waits, wait->end - 1));
	known->at = from.ns > waits->root->first ? from.ns - waits->root->first : 0;
	known->lcore = from.lcore;
	s = waiting_span(c, waits, wait->end, &state);
	if (s) {
		known->state = s->states[state].state;
		known->tpoint = spans_tpoint(c->spans, known->state);
		known->layer = spans_layer(c->spans, s, known->state);
		known->fact = find_fact(s, state);
	}
	if (known->fact && known->tpoint->layer == LAYER_HOST)
		known->pdus = other_pdus(c, s, known->fact, wait->end == waits->n);
	if (wait->end < waits->n)
		to = moment_of(waits_state(waits, wait->end));
	lcores_work(&c->spans->lcores, &from, &to, &c->work);
	sort_sums(sums);
}

/* Writes a line with a number, its noun in singular or plural, and a text on each side. */
static void put_cause(struct out *out, const char *before, uint64_t n, const char *one, const char *many,
		      const char *after)
{
	out_printf(out, "%s %" PRIu64 " %s %s\n", before, n, n == 1 ? one : many, after);
}

static void put_buffers(struct causes *c, struct out *out, const struct causes_fact *fact)
{
	put_cause(out, "waited for a buffer while", fact->others, "other", "others", "did");
	if (!fact->held)
		return;
	out_printf(out, "%" PRIu64 " %s a buffer, %" PRIu64 " of them of ", fact->holders,
		   fact->holders == 1 ? "request had" : "requests had", fact->held);
	out_slice(out, connections_name(c->connections, fact->holder)->name);
	out_char(out, '\n');
}

static bool is_of_one_host(const struct causes *c, uint32_t a, uint32_t b)
{
	const struct connection *all = c->connections->all;

	return !(a & WORD) && !(b & WORD) && all[a].host != MAP_NONE && all[a].host == all[b].host;
}

static void add_to_groups(struct causes *c, const struct lcores_sum *sum)
{
	size_t i = 0;

	while (i < c->num_groups && !is_of_one_host(c, c->groups[i].who, sum->who))
		i++;
	if (i == c->num_groups) {
		c->groups = mem_room(c->groups, c->num_groups, &c->cap_groups);
		c->groups[c->num_groups++] = (struct causes_group){.who = sum->who};
	}
	c->groups[i].entries += sum->entries;
	c->groups[i].ns += sum->ns;
	c->groups[i].members++;
}

void causes_find_groups(struct causes *c, const struct lcores_work *work)
{
	c->num_groups = 0;
	for (size_t i = 0; i < work->sums.n; i++)
		add_to_groups(c, &work->sums.all[i]);
}

static size_t largest_group(const struct causes *c)
{
	size_t largest = 0;

	for (size_t i = 1; i < c->num_groups; i++)
		if (c->groups[i].entries > c->groups[largest].entries)
			largest = i;
	return largest;
}

static void put_group(struct causes *c, struct out *out, const struct causes_group *group)
{
	out_printf(out, " %" PRIu64 " of ", group->entries);
	out_slice(out,
		  group->members > 1 ? connections_host(c->connections, group->who) : causes_who_name(c, group->who));
	if (group->members > 1)
		out_printf(out, " (%u connections)", group->members);
}

/* For whom an lcore wrote. Their times are not printed: an lcore may have been idle before an entry. */
static void put_work(struct causes *c, struct out *out, const struct lcores_work *work)
{
	enum { NAMES = 3 };
	uint64_t others = work->read;

	causes_find_groups(c, work);
	for (unsigned shown = 0; shown < NAMES && shown < c->num_groups; shown++) {
		struct causes_group *group = &c->groups[largest_group(c)];

		out_char(out, shown ? ',' : ':');
		put_group(c, out, group);
		others -= group->entries;
		group->entries = 0;
	}
	if (others)
		out_printf(out, ", %" PRIu64 " of others", others);
}

/* For at least half of the wait. */
static bool is_silent(const struct causes_wait *known)
{
	return known->lcore != MAP_NONE && known->work->silence >= known->ns / 2;
}

/* What the lcore wrote, and for how long it wrote nothing. */
static void put_lcore(struct causes *c, struct out *out, const struct causes_wait *known)
{
	const struct lcores_work *work = known->work;
	uint64_t lcore;

	if (known->lcore == MAP_NONE)
		return;
	lcore = c->spans->lcores.all[known->lcore].number;
	if (work->gap)
		out_printf(out, "entries of lcore %" PRIu64 " are missing here\n", lcore);
	if (work->gap && !work->entries)
		return;
	out_printf(out, "lcore %" PRIu64 " wrote ", lcore);
	if (!work->entries) {
		out_text(out, "nothing meanwhile\n");
		return;
	}
	if (is_silent(known)) {
		out_text(out, "nothing for ");
		out_duration_text(out, work->silence);
		out_text(out, ", else ");
	}
	out_printf(out, "%" PRIu64 " %s", work->entries, work->entries == 1 ? "entry" : "entries");
	out_text(out, is_silent(known) ? "" : " meanwhile");
	if (work->read < work->entries)
		out_printf(out, ", of the latest %" PRIu64, work->read);
	else if (!is_silent(known) && !work->gap && work->active < known->ns / 4)
		out_printf(out, ", active for %.0f%% of it", 100.0 * work->active / known->ns);
	put_work(c, out, known->work);
	out_char(out, '\n');
}

bool causes_write(struct causes *c, struct out *out, const struct waits *waits, const struct wait *wait)
{
	size_t before = out->len;
	struct causes_wait known;

	if (!wait->end) {
		out_text(out, "its entries before this one are not among the lines\n");
		return false;
	}
	causes_explain(c, waits, wait, &known);
	if (known.fact && known.tpoint->layer == LAYER_BUFFER)
		put_buffers(c, out, known.fact);
	if (known.fact && known.tpoint->kind == SPDK_SOCKET_WRITE && known.fact->others)
		put_cause(out, "queued after", known.fact->others, "other", "others", "on the socket");
	if (known.pdus)
		put_cause(out, "the connection received", known.pdus, "other PDU", "other PDUs", "meanwhile");
	put_lcore(c, out, &known);
	if (out->len == before)
		out_text(out, "no cause is in the trace\n");
	return is_silent(&known) || known.work->gap;
}

void causes_free(struct causes *c)
{
	free(c->counts);
	intern_free(&c->words);
	free(c->groups);
	out_close(&c->text);
	lcores_work_free(&c->work);
}
