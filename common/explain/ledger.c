/* SPDX-License-Identifier: BSD-3-Clause */
#include "ledger.h"

#include <stdlib.h>

#include "floor.h"
#include "mem.h"
#include "minmax.h"
#include "search.h"

static int by_start(const void *a, const void *b)
{
	const struct ledger_cycle *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void find_cycles(struct ledger *l)
{
	const struct requests *r = l->requests;

	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->all[i];
		struct ledger_lcore *lcore = &l->lcores[q->lcore];

		if (q->open || q->cut || !q->front)
			continue;
		lcore->all = mem_room(lcore->all, lcore->n, &lcore->cap);
		lcore->all[lcore->n++] = (struct ledger_cycle){q->start, q->start + q->life};
	}
	for (size_t i = 0; i < r->num_lcores; i++) {
		struct ledger_lcore *lcore = &l->lcores[i];

		if (lcore->n)
			qsort(lcore->all, lcore->n, sizeof(*lcore->all), by_start);
		for (size_t k = lcore->n; k-- > 1;)
			lcore->all[k - 1].end = min_u64(lcore->all[k - 1].end, lcore->all[k].end);
	}
}

/*
 * Requests that the lcore may finish one after another while it handles what it found ready at one time. What a device
 * completes is found ready by a poller of its own.
 */
enum { TURNS = 8, DEVICE_TURNS = 2 };

static bool has_cycle(const struct ledger *l, uint32_t lcore, uint64_t begin, uint64_t end, unsigned turns)
{
	const struct ledger_lcore *of;

	if (lcore == MAP_NONE)
		return false;
	of = &l->lcores[lcore];
	for (unsigned turn = 0; turn < turns; turn++) {
		size_t i = search_first(k, of->n, of->all[k].start >= begin);

		if (i == of->n || of->all[i].end > end)
			return false;
		begin = of->all[i].end;
	}
	return true;
}

/* The time of a request in its bdev. */
struct sample {
	uint32_t bdev;
	uint64_t ns;
};

static int by_bdev(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->bdev != y->bdev)
		return x->bdev < y->bdev ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Finds the bdevs that complete I/O on the CPU, by the medians of their times. */
static void find_on_cpu(struct ledger *l)
{
	const struct requests *r = l->requests;
	struct sample *all = mem_array(r->n, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->all[i].bdev != MAP_NONE && !r->all[i].open && !r->all[i].cut)
			all[n++] = (struct sample){r->all[i].bdev, r->all[i].layers[LAYER_BDEV]};
	qsort(all, n, sizeof(*all), by_bdev);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && all[end].bdev == all[i].bdev;)
			end++;
		l->on_cpu[all[i].bdev] = all[(i + end) / 2].ns < FLOOR_CPU_NS;
	}
	free(all);
}

static bool is_on_cpu(const struct ledger *l, const struct request *q)
{
	return q->bdev != MAP_NONE && l->on_cpu[q->bdev];
}

static bool wait_has_cycle(const struct ledger *l, const struct request_wait *w)
{
	bool is_device = w->layer == LAYER_BDEV || w->layer == LAYER_DRIVE || w->layer == LAYER_BELOW;

	return has_cycle(l, w->lcore, w->begin, w->begin + w->ns, is_device ? DEVICE_TURNS : TURNS);
}

/* Whether the request waited for its lcore only. */
static bool needs_lcore_only(const struct ledger *l, const struct request *q, const struct request_wait *w)
{
	const struct request_facts *facts = requests_facts(l->requests, q);

	if (w->layer == LAYER_TARGET)
		return facts->ns[FACT_NO_IO] < w->ns / 2;
	for (unsigned i = 0; i < FACTS_PROVEN; i++)
		if (fact_table[fact_proven[i]].first == LAYER_BDEV && facts->ns[fact_proven[i]])
			return false;
	return w->layer == LAYER_BDEV && is_on_cpu(l, q);
}

/* Whether the longest silence of a wait is too long for work: the lcore stood still, or was off its CPU. */
static bool is_long(const struct request_wait *w)
{
	return w->silent >= FLOOR_STALL_NS || w->is_rare;
}

void ledger_start(struct ledger *l, struct requests *requests)
{
	*l = (struct ledger){.requests = requests};
	l->lcores = mem_array(requests->num_lcores, sizeof(*l->lcores));
	l->on_cpu = mem_array(requests->names.n, sizeof(*l->on_cpu));
	find_cycles(l);
	find_on_cpu(l);
}

static bool is_device(const struct ledger *l, const struct request *q, const struct request_wait *w)
{
	return w->layer == LAYER_DRIVE || w->layer == LAYER_BELOW || (w->layer == LAYER_BDEV && !is_on_cpu(l, q));
}

/* What is left of a request while it is divided. */
struct rest {
	const struct request *q;
	uint64_t layers[LAYERS];
	struct rest_wait {
		const struct request_wait *wait;
		uint64_t ns, silent;
	} waits[SPANLINE_WAITS];
};

static void add(struct ledger *l, enum fact fact, uint32_t of, uint32_t who, uint64_t ns, bool proven)
{
	if (!ns)
		return;
	if (fact == FACT_BDEV && requests_is_limited(l->requests, of)) {
		fact = FACT_RATE_LIMIT;
		proven = true;
	}
	for (unsigned i = 0; i < l->n; i++) {
		struct ledger_entry *e = &l->entries[i];

		if (e->fact == fact && e->of == of && e->who == who) {
			e->ns += ns;
			e->proven += proven ? ns : 0;
			return;
		}
	}
	l->entries[l->n++] = (struct ledger_entry){fact, of, who, ns, proven ? ns : 0};
}

/* Adds what nobody else had: a resource of the request itself. */
static void add_own(struct ledger *l, const struct request *q, enum fact fact, uint64_t ns, bool proven)
{
	const struct fact_row *row = &fact_table[fact];
	uint32_t of = row->resource == RESOURCE_LCORE ? requests_lcore_name(l->requests, q->lcore)
		      : row->resource == RESOURCE_BDEV || row->resource == RESOURCE_DRIVE ? q->bdev
											  : MAP_NONE;

	add(l, fact, of, row->who == FACT_OF_HOST ? q->host : MAP_NONE, ns, proven);
}

/* Takes up to this time from a layer; returns what was taken. */
static uint64_t take(struct rest *rest, enum layer layer, uint64_t ns)
{
	if (layer == LAYERS)
		return 0;
	ns = min_u64(ns, rest->layers[layer]);
	rest->layers[layer] -= ns;
	return ns;
}

/* The same, and it is no longer in waits. */
static uint64_t take_with_waits(struct rest *rest, enum layer layer, uint64_t ns)
{
	uint64_t taken = take(rest, layer, ns), left = taken;

	for (unsigned i = 0; i < rest->q->num_waits; i++) {
		struct rest_wait *w = &rest->waits[i];
		uint64_t part = w->wait->layer == layer ? min_u64(left, w->ns) : 0;

		w->ns -= part;
		w->silent = min_u64(w->silent, w->ns);
		left -= part;
	}
	return taken;
}

/* Takes time in which the reactor did not run: it is in silences, as far as it can be. */
static uint64_t take_silence(struct rest *rest, uint64_t ns)
{
	uint64_t left = ns;

	for (unsigned i = 0; i < rest->q->num_waits; i++) {
		struct rest_wait *w = &rest->waits[i];
		uint64_t part = take(rest, w->wait->layer, min_u64(left, w->silent));

		w->ns -= part;
		w->silent -= part;
		left -= part;
	}
	while (left) {
		enum layer largest = 0;
		uint64_t part;

		for (enum layer layer = 1; layer < LAYERS; layer++)
			if (rest->layers[layer] > rest->layers[largest])
				largest = layer;
		part = take_with_waits(rest, largest, left);
		if (!part)
			break;
		left -= part;
	}
	return ns - left;
}

/* Takes the time of a fact that is measured in each request, which is proven. */
static void divide_measured(struct ledger *l, struct rest *rest, enum fact fact)
{
	const struct fact_row *row = &fact_table[fact];
	uint64_t ns = requests_facts(l->requests, rest->q)->ns[fact], first = take_with_waits(rest, row->first, ns);

	add(l, fact, rest->q->bdev, MAP_NONE, first, true);
	if (row->num_layers > 1)
		add(l, row->second_as, rest->q->bdev, MAP_NONE, take_with_waits(rest, row->second, ns - first), true);
}

static void divide_held(struct ledger *l, struct rest *rest, enum fact fact, uint32_t first, unsigned n)
{
	uint32_t lcore = requests_lcore_name(l->requests, rest->q->lcore);
	uint64_t ns = requests_facts(l->requests, rest->q)->ns[fact];
	uint64_t left = take_silence(rest, min_u64(ns, rest->q->life));

	for (unsigned i = 0; i < n; i++) {
		const struct request_share *share = &l->requests->shares[first + i];
		uint64_t part = min_u64(left, share->ns);

		add(l, fact, lcore, share->name, part, true);
		left -= part;
	}
	add(l, fact, lcore, MAP_NONE, left, true);
}

static uint32_t host_of(struct ledger *l, uint32_t connection)
{
	return requests_is_connection(l->requests, connection) ? requests_host(l->requests, connection) : connection;
}

/* The connection with most buffers is known; others have the rest. */
static void divide_buffers(struct ledger *l, const struct request_wait *w, uint64_t ns)
{
	uint64_t part = 0;

	if (w->buffers && w->held <= w->buffers)
		part = (unsigned __int128)ns * w->held / w->buffers;
	add(l, FACT_BUFFER, MAP_NONE, requests_host(l->requests, w->holder), part, true);
	add(l, FACT_BUFFER, MAP_NONE, MAP_NONE, ns - part, false);
}

static void add_layer(struct ledger *l, const struct request *q, enum layer layer, uint64_t ns, bool proven)
{
	static const enum fact facts[LAYERS] = {
		[LAYER_NETWORK] = FACT_NETWORK, [LAYER_BUFFER] = FACT_BUFFER, [LAYER_HOST] = FACT_HOST,
		[LAYER_TARGET] = FACT_TARGET,   [LAYER_BELOW] = FACT_BELOW,   [LAYER_BDEV] = FACT_BDEV,
		[LAYER_DRIVE] = FACT_DRIVE,     [LAYER_REPLY] = FACT_NETWORK, [LAYER_UNKNOWN] = FACT_UNKNOWN,
	};

	if (layer == LAYER_BDEV && q->leg != MAP_NONE && requests_has_legs(l->requests, q->bdev))
		add(l, FACT_LEG, q->leg, MAP_NONE, ns, proven);
	else
		add_own(l, q, facts[layer], ns, proven);
}

/* Time of the lcore during a wait: for other hosts, for the request's own one, and in gaps before other entries. */
struct work {
	uint64_t others, own, idle;
};

static struct work work_of(struct ledger *l, const struct request *q, const struct request_wait *w)
{
	struct work work = {};

	for (uint32_t i = w->first; i < w->first + w->n; i++) {
		const struct request_share *share = &l->requests->shares[i];

		if (!requests_is_connection(l->requests, share->name))
			work.idle += share->n && share->ns / share->n > FLOOR_ROUND_TRIP_NS ? share->ns : 0;
		else if (host_of(l, share->name) == q->host)
			work.own += share->ns;
		else
			work.others += share->ns;
	}
	return work;
}

/* Divides time among the other hosts that the lcore worked for, in proportion. */
static void divide_work(struct ledger *l, const struct request *q, const struct request_wait *w, uint64_t ns,
			uint64_t others)
{
	uint32_t lcore = requests_lcore_name(l->requests, w->lcore);
	uint64_t left = ns;

	for (uint32_t i = w->first; i < w->first + w->n; i++) {
		const struct request_share *share = &l->requests->shares[i];
		uint32_t host = host_of(l, share->name);
		uint64_t part = min_u64((unsigned __int128)ns * share->ns / others, left);

		if (!requests_is_connection(l->requests, share->name) || host == q->host)
			continue;
		add(l, FACT_REACTOR, lcore, host, part, true);
		left -= part;
	}
	add(l, FACT_REACTOR, lcore, MAP_NONE, left, true);
}

/* The same as take(). In the queue of its socket, a reply is part of both layers. */
static uint64_t take_of_wait(struct rest *rest, const struct rest_wait *w, uint64_t ns)
{
	uint64_t taken = take(rest, w->wait->layer, ns);

	return w->wait->layer == LAYER_NETWORK ? taken + take(rest, LAYER_REPLY, ns - taken) : taken;
}

/* Takes what the lcore had of a wait: work for others, and silences that the wait depended on. */
static void divide_lcore(struct ledger *l, struct rest *rest, struct rest_wait *w)
{
	const struct request *q = rest->q;
	const struct request_wait *wait = w->wait;
	struct work work = work_of(l, q, wait);
	bool device = is_device(l, q, wait);
	bool proven = needs_lcore_only(l, q, wait) && is_long(wait);
	/* gaps between entries are no work; if they are not known, those in these sums are */
	uint64_t active = wait->active < UINT64_MAX ? wait->active : work.others + work.own;
	uint64_t busy = 0, silent;

	/* an idle lcore sees at once that a device is done, whatever it did before */
	if (work.others && !(device && wait->active <= w->ns / 2))
		busy = min_u64(active, w->ns) * (unsigned __int128)work.others / (work.others + work.own);
	if (busy)
		divide_work(l, q, wait, take_of_wait(rest, w, busy), work.others);
	w->ns -= busy;
	silent = min_u64(w->ns, proven ? w->silent + work.idle : w->silent);
	if (!proven && (device || !wait->is_rare || silent < w->ns / 2))
		return;
	add(l, FACT_SILENT, requests_lcore_name(l->requests, wait->lcore), MAP_NONE, take_of_wait(rest, w, silent),
	    proven);
	w->ns -= silent;
}

/*
 * Whether the lcore looked after a wait while it lasted, so that what is left of it is due to what it waited for: the
 * lcore has come round; or it was mostly idle, since it was on its CPU, or wrote entries throughout.
 */
static bool was_served(const struct ledger *l, const struct request *q, const struct request_wait *w)
{
	if (wait_has_cycle(l, w))
		return true;
	return w->active <= w->ns / 2 && ((q->covered && !w->is_rare) || 2 * w->silent < w->ns);
}

static void divide_wait(struct ledger *l, struct rest *rest, struct rest_wait *w)
{
	const struct request *q = rest->q;
	enum layer layer = w->wait->layer;
	bool served;
	uint64_t ns;

	if (layer == LAYERS || !w->ns)
		return;
	if (layer == LAYER_BUFFER) {
		divide_buffers(l, w->wait, take(rest, layer, w->ns));
		return;
	}
	if (!wait_has_cycle(l, w->wait))
		divide_lcore(l, rest, w);
	served = was_served(l, q, w->wait);
	ns = take_of_wait(rest, w, w->ns);
	if (((layer == LAYER_NETWORK && w->wait->is_queued) || layer == LAYER_REPLY) && served) {
		add_own(l, q, FACT_REPLY, ns, true);
		return;
	}
	add_layer(l, q, layer, ns, served && (layer == LAYER_HOST || is_device(l, q, w->wait)));
}

/* The time for which the lcore worked before it read the request. */
static void divide_unread(struct ledger *l, struct rest *rest, const struct request_facts *facts)
{
	const struct request *q = rest->q;
	uint64_t ns = take(rest, LAYER_NETWORK, facts->unread);

	if (!ns)
		return;
	if (host_of(l, facts->unread_for) == q->host)
		add_own(l, q, FACT_TARGET, ns, false);
	else
		add(l, FACT_REACTOR, requests_lcore_name(l->requests, q->lcore), host_of(l, facts->unread_for), ns,
		    true);
}

static void divide_rest(struct ledger *l, struct rest *rest)
{
	for (enum layer layer = 0; layer < LAYERS; layer++)
		add_layer(l, rest->q, layer, rest->layers[layer], false);
}

void ledger_request(struct ledger *l, const struct request *q)
{
	const struct request_facts *facts = requests_facts(l->requests, q);
	struct rest rest = {.q = q};

	l->n = 0;
	memcpy(rest.layers, q->layers, sizeof(rest.layers));
	for (unsigned i = 0; i < q->num_waits; i++) {
		const struct request_wait *w = &l->requests->waits[q->waits + i];

		rest.waits[i] = (struct rest_wait){w, w->ns, min_u64(w->silent, w->ns)};
	}
	divide_held(l, &rest, FACT_OFF_CPU, facts->off_cpu_by, facts->num_off_cpu_by);
	divide_held(l, &rest, FACT_IRQ, facts->irq_by, facts->num_irq_by);
	divide_unread(l, &rest, facts);
	/* what is innermost comes first */
	for (unsigned i = FACTS_PROVEN; i--;)
		divide_measured(l, &rest, fact_proven[i]);
	divide_measured(l, &rest, FACT_DISK);
	for (unsigned i = 0; i < q->num_waits; i++)
		divide_wait(l, &rest, &rest.waits[i]);
	divide_rest(l, &rest);
}

void ledger_free(struct ledger *l)
{
	for (size_t i = 0; i < l->requests->num_lcores; i++)
		free(l->lcores[i].all);
	free(l->lcores);
	free(l->on_cpu);
}
