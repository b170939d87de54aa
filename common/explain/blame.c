/* SPDX-License-Identifier: BSD-3-Clause */
#include "blame.h"

#include <stdlib.h>

#include "mem.h"
#include "minmax.h"
#include "search.h"

const char *const blame_whats[BLAME_WHATS] = {
	[BLAME_BUFFERS] = "buffers", [BLAME_LCORE] = "lcore", [BLAME_SOCKET] = "socket", [BLAME_DATA] = "data",
	[BLAME_BDEV] = "bdev",       [BLAME_LEG] = "leg",     [BLAME_IO] = "io",
};

/* A bdev with a shorter median completes I/O on the CPU: no device is that fast. */
static const uint64_t ON_CPU_NS = 5000;

/* Longer silences are no work for others: the longest copies of data take less. */
static const uint64_t WORK_NS = 1000000;

/* Work writes entries more often than this, on average. */
static const uint64_t ENTRY_NS = 20000;

static int by_start(const void *a, const void *b)
{
	const struct blame_cycle *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void find_cycles(struct blame *b)
{
	const struct requests *r = b->requests;

	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->all[i];
		struct blame_lcore *lcore = &b->lcores[q->lcore];

		if (q->open || q->cut || !q->front)
			continue;
		lcore->all = mem_room(lcore->all, lcore->n, &lcore->cap);
		lcore->all[lcore->n++] = (struct blame_cycle){q->start, q->start + q->life};
	}
	for (size_t i = 0; i < r->num_lcores; i++) {
		struct blame_lcore *lcore = &b->lcores[i];

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

static bool has_cycle(const struct blame *b, uint32_t lcore, uint64_t begin, uint64_t end, unsigned turns)
{
	const struct blame_lcore *of;

	if (lcore == MAP_NONE)
		return false;
	of = &b->lcores[lcore];
	for (unsigned turn = 0; turn < turns; turn++) {
		size_t i = search_first(k, of->n, of->all[k].start >= begin);

		if (i == of->n || of->all[i].end > end)
			return false;
		begin = of->all[i].end;
	}
	return true;
}

/* A time of a bdev. */
struct sample {
	uint32_t of;
	uint64_t ns;
};

static int by_thing(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* The end of the sorted samples of the same thing that start at i, and their median. */
static size_t find_median(const struct sample *all, size_t i, size_t n, uint64_t *median)
{
	size_t end = i;

	while (end < n && all[end].of == all[i].of)
		end++;
	*median = all[(i + end) / 2].ns;
	return end;
}

static void find_times(struct blame *b)
{
	const struct requests *r = b->requests;
	struct sample *times = mem_array(r->n, sizeof(*times));
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->all[i].bdev != MAP_NONE && !r->all[i].open && !r->all[i].cut)
			times[n++] = (struct sample){r->all[i].bdev, r->all[i].layers[LAYER_BDEV]};
	qsort(times, n, sizeof(*times), by_thing);
	for (size_t i = 0, end; i < n; i = end) {
		struct blame_bdev *bdev = &b->bdevs[times[i].of];

		end = find_median(times, i, n, &bdev->median);
		bdev->n = end - i;
	}
	free(times);
}

/* What requests spend in this bdev, as a rule. */
static uint64_t usual_time(const struct blame *b, const struct request *q)
{
	return q->bdev != MAP_NONE && b->bdevs[q->bdev].n ? b->bdevs[q->bdev].median : UINT64_MAX;
}

static bool is_on_cpu(const struct blame *b, const struct request *q)
{
	return q->bdev != MAP_NONE && b->bdevs[q->bdev].n && b->bdevs[q->bdev].median < ON_CPU_NS;
}

static uint64_t silence_key(uint32_t lcore, uint64_t ns)
{
	return ns ^ (uint64_t)lcore << 48;
}

static bool wait_has_cycle(const struct blame *b, const struct request_wait *w)
{
	bool is_device = w->layer == LAYER_BDEV || w->layer == LAYER_DRIVE || w->layer == LAYER_BELOW;

	return has_cycle(b, w->lcore, w->begin, w->begin + w->ns, is_device ? DEVICE_TURNS : TURNS);
}

/* Whether the request waited for its lcore only. */
static bool needs_lcore_only(const struct blame *b, const struct request *q, const struct request_wait *w)
{
	const struct request_facts *facts = requests_facts(b->requests, q);

	if (w->layer == LAYER_TARGET)
		return facts->ns[FACT_NO_IO] < w->ns / 2;
	for (unsigned i = 0; i < FACTS_PROVEN; i++)
		if (fact_table[fact_proven[i]].first == LAYER_BDEV && facts->ns[fact_proven[i]])
			return false;
	return w->layer == LAYER_BDEV && is_on_cpu(b, q);
}

/* Silences of requests that waited for their lcore only. */
static void find_silences(struct blame *b)
{
	const struct requests *r = b->requests;

	for (size_t i = 0; i < r->n; i++)
		for (unsigned k = 0; k < r->all[i].num_waits; k++) {
			const struct request_wait *w = &r->waits[r->all[i].waits + k];

			if (!r->all[i].open && w->silent && w->lcore != MAP_NONE && needs_lcore_only(b, &r->all[i], w))
				*map_put(&b->silences, silence_key(w->lcore, w->silent)) = 1;
		}
}

/* Whether the longest silence of a wait is too long for work: the lcore stood still, or was off its CPU. */
static bool is_long(const struct request_wait *w)
{
	return w->silent >= WORK_NS || w->is_rare;
}

/* Whether another request shows that the lcore stood still during the longest silence of a wait. */
static bool is_still(const struct blame *b, const struct request_wait *w)
{
	return w->silent && is_long(w) && map_get(&b->silences, silence_key(w->lcore, w->silent)) != MAP_NONE;
}

static void mark_still(struct blame *b)
{
	struct requests *r = b->requests;

	for (size_t i = 0; i < r->n; i++)
		for (unsigned k = 0; k < r->all[i].num_waits; k++) {
			const struct request_wait *w = &r->waits[r->all[i].waits + k];

			if (!is_still(b, w) || w->silent <= r->all[i].stood_still)
				continue;
			r->all[i].stood_still = w->silent;
			r->all[i].still = w->lcore;
		}
}

void blame_start(struct blame *b, struct requests *requests)
{
	*b = (struct blame){.requests = requests};
	b->lcores = mem_array(requests->num_lcores, sizeof(*b->lcores));
	b->bdevs = mem_array(requests->names.n, sizeof(*b->bdevs));
	find_cycles(b);
	find_times(b);
	find_silences(b);
	mark_still(b);
}

static bool is_device(const struct blame *b, const struct request *q, const struct request_wait *w)
{
	return w->layer == LAYER_DRIVE || w->layer == LAYER_BELOW || (w->layer == LAYER_BDEV && !is_on_cpu(b, q));
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

static void add(struct blame *b, enum fact cause, uint32_t who, uint64_t ns, bool proven)
{
	if (!ns)
		return;
	if (cause == FACT_BDEV && requests_is_limited(b->requests, who)) {
		cause = FACT_RATE_LIMIT;
		proven = true;
	}
	for (unsigned i = 0; i < b->n; i++)
		if (b->parts[i].cause == cause && b->parts[i].who == who) {
			b->parts[i].ns += ns;
			b->parts[i].proven += proven ? ns : 0;
			return;
		}
	b->parts[b->n++] = (struct blame_part){cause, who, ns, proven ? ns : 0};
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
static void divide_measured(struct blame *b, struct rest *rest, enum fact fact, uint32_t who)
{
	const struct fact_row *row = &fact_table[fact];
	uint64_t ns = requests_facts(b->requests, rest->q)->ns[fact], first = take_with_waits(rest, row->first, ns);

	add(b, fact, who, first, true);
	if (row->num_layers > 1)
		add(b, row->second_as, who, take_with_waits(rest, row->second, ns - first), true);
}

static void divide_held(struct blame *b, struct rest *rest, enum fact cause, uint32_t first, unsigned n)
{
	uint64_t ns = requests_facts(b->requests, rest->q)->ns[cause];
	uint64_t left = take_silence(rest, min_u64(ns, rest->q->life));

	for (unsigned i = 0; i < n; i++) {
		const struct request_share *share = &b->requests->shares[first + i];
		uint64_t part = min_u64(left, share->ns);

		add(b, cause, share->name, part, true);
		left -= part;
	}
	add(b, cause, MAP_NONE, left, true);
}

static void add_wait(struct blame *b, enum blame_what what, uint32_t of, uint32_t who, uint64_t ns)
{
	if (ns)
		b->waits[b->num_waits++] = (struct blame_wait){what, of, who, ns};
}

static uint32_t host_of(struct blame *b, uint32_t connection)
{
	return requests_is_connection(b->requests, connection) ? requests_host(b->requests, connection) : connection;
}

/* The connection with most buffers is known; others have the rest. */
static void divide_buffers(struct blame *b, const struct request_wait *w, uint64_t ns)
{
	uint32_t holder = requests_host(b->requests, w->holder);
	uint64_t part = 0;

	if (w->buffers && w->held <= w->buffers)
		part = (unsigned __int128)ns * w->held / w->buffers;
	add(b, FACT_BUFFER, holder, part, true);
	add_wait(b, BLAME_BUFFERS, MAP_NONE, holder, part);
	add(b, FACT_BUFFER, MAP_NONE, ns - part, false);
}

static enum fact cause_of(enum layer layer)
{
	static const enum fact causes[LAYERS] = {
		[LAYER_NETWORK] = FACT_NETWORK, [LAYER_BUFFER] = FACT_BUFFER, [LAYER_HOST] = FACT_HOST,
		[LAYER_TARGET] = FACT_TARGET,   [LAYER_BELOW] = FACT_BELOW,   [LAYER_BDEV] = FACT_BDEV,
		[LAYER_DRIVE] = FACT_DRIVE,     [LAYER_REPLY] = FACT_NETWORK, [LAYER_UNKNOWN] = FACT_UNKNOWN,
	};

	return causes[layer];
}

static uint32_t who_of(const struct request *q, enum fact fact)
{
	enum fact_who who = fact_table[fact].who;

	return who == FACT_OF_BDEV ? q->bdev : who == FACT_OF_HOST ? q->host : MAP_NONE;
}

static void add_layer(struct blame *b, const struct request *q, enum layer layer, uint64_t ns, bool proven)
{
	if (layer == LAYER_BDEV && q->leg != MAP_NONE && requests_has_legs(b->requests, q->bdev))
		add(b, FACT_LEG, q->leg, ns, proven);
	else
		add(b, cause_of(layer), who_of(q, cause_of(layer)), ns, proven);
}

/* Time of the lcore during a wait: for other hosts, for the request's own one, and in gaps before other entries. */
struct work {
	uint64_t others, own, idle;
};

static struct work work_of(struct blame *b, const struct request *q, const struct request_wait *w)
{
	struct work work = {};

	for (uint32_t i = w->first; i < w->first + w->n; i++) {
		const struct request_share *share = &b->requests->shares[i];

		if (!requests_is_connection(b->requests, share->name))
			work.idle += share->n && share->ns / share->n > ENTRY_NS ? share->ns : 0;
		else if (host_of(b, share->name) == q->host)
			work.own += share->ns;
		else
			work.others += share->ns;
	}
	return work;
}

/* Divides time among the other hosts that the lcore worked for, in proportion. */
static void divide_work(struct blame *b, const struct request *q, const struct request_wait *w, uint64_t ns,
			uint64_t others)
{
	uint64_t left = ns;

	for (uint32_t i = w->first; i < w->first + w->n; i++) {
		const struct request_share *share = &b->requests->shares[i];
		uint32_t host = host_of(b, share->name);
		uint64_t part = min_u64((unsigned __int128)ns * share->ns / others, left);

		if (!requests_is_connection(b->requests, share->name) || host == q->host)
			continue;
		add(b, FACT_REACTOR, host, part, true);
		add_wait(b, BLAME_LCORE, requests_lcore_name(b->requests, w->lcore), host, part);
		left -= part;
	}
	add(b, FACT_REACTOR, MAP_NONE, left, true);
}

/* The same as take(). In the queue of its socket, a reply is part of both layers. */
static uint64_t take_of_wait(struct rest *rest, const struct rest_wait *w, uint64_t ns)
{
	uint64_t taken = take(rest, w->wait->layer, ns);

	return w->wait->layer == LAYER_NETWORK ? taken + take(rest, LAYER_REPLY, ns - taken) : taken;
}

/*
 * Whom the lcore worked for in a silence, by its next entry: MAP_NONE: nobody that is known. The wait ended right after
 * it, while an idle lcore would have ended it at once; by chance one in COINCIDENCE ends there.
 */
static uint32_t worked_for(struct blame *b, const struct request *q, const struct request_wait *w)
{
	enum { COINCIDENCE = 10 };

	if (!w->silent || w->silent >= WORK_NS || !requests_is_connection(b->requests, w->ended_by) ||
	    w->ended_before > w->silent / COINCIDENCE)
		return MAP_NONE;
	return host_of(b, w->ended_by) == q->host ? MAP_NONE : host_of(b, w->ended_by);
}

/* A silence of the lcore that the request had to wait for. host: whom it worked for, or MAP_NONE. */
static void divide_silence(struct blame *b, struct rest *rest, struct rest_wait *w, uint64_t ns, uint32_t host,
			   bool proven)
{
	uint32_t lcore = requests_lcore_name(b->requests, w->wait->lcore);

	ns = take_of_wait(rest, w, ns);
	if (host != MAP_NONE) {
		add(b, FACT_REACTOR, host, ns, true);
		add_wait(b, BLAME_LCORE, lcore, host, ns);
	} else {
		add(b, FACT_SILENT, lcore, ns, proven);
	}
}

/* Takes what the lcore had of a wait: work for others, and silences that the wait depended on. */
static void divide_lcore(struct blame *b, struct rest *rest, struct rest_wait *w)
{
	const struct request *q = rest->q;
	const struct request_wait *wait = w->wait;
	struct work work = work_of(b, q, wait);
	bool needs = needs_lcore_only(b, q, wait), device = is_device(b, q, wait);
	bool proven = (needs && is_long(wait)) || is_still(b, wait);
	uint32_t host = worked_for(b, q, wait);
	/* gaps between entries are no work; if they are not known, those in these sums are */
	uint64_t active = wait->active < UINT64_MAX ? wait->active : work.others + work.own;
	/* the device would have taken its time in any case */
	uint64_t room = device ? w->ns - min_u64(w->ns, usual_time(b, q)) : w->ns, busy = 0, silent;

	if (work.others)
		busy = min_u64(active, w->ns) * (unsigned __int128)work.others / (work.others + work.own);
	busy = min_u64(busy, room);
	if (busy)
		divide_work(b, q, wait, take_of_wait(rest, w, busy), work.others);
	w->ns -= busy;
	silent = min_u64(room - busy, proven ? w->silent + work.idle : w->silent);
	if (!proven && host == MAP_NONE && (device || !wait->is_rare || silent < w->ns / 2))
		return;
	divide_silence(b, rest, w, silent, proven ? MAP_NONE : host, proven);
	w->ns -= silent;
}

/*
 * Whether the lcore looked after a wait while it lasted, so that what is left of it is due to what it waited for: the
 * lcore has come round; or it was mostly idle, since it was on its CPU, or wrote entries throughout.
 */
static bool was_served(const struct blame *b, const struct request *q, const struct request_wait *w)
{
	if (wait_has_cycle(b, w))
		return true;
	return w->active <= w->ns / 2 && ((q->covered && !w->is_rare) || 2 * w->silent < w->ns);
}

static void divide_wait(struct blame *b, struct rest *rest, struct rest_wait *w)
{
	const struct request *q = rest->q;
	enum layer layer = w->wait->layer;
	bool served;
	uint64_t ns;

	if (layer == LAYERS || !w->ns)
		return;
	if (layer == LAYER_BUFFER) {
		divide_buffers(b, w->wait, take(rest, layer, w->ns));
		return;
	}
	if (!wait_has_cycle(b, w->wait))
		divide_lcore(b, rest, w);
	served = was_served(b, q, w->wait);
	ns = take_of_wait(rest, w, w->ns);
	if (((layer == LAYER_NETWORK && w->wait->is_queued) || layer == LAYER_REPLY) && served) {
		add(b, FACT_REPLY, q->host, ns, true);
		add_wait(b, BLAME_SOCKET, MAP_NONE, q->host, ns);
		return;
	}
	add_layer(b, q, layer, ns, served && (layer == LAYER_HOST || is_device(b, q, w->wait)));
	if (layer == LAYER_HOST && served)
		add_wait(b, BLAME_DATA, MAP_NONE, q->host, ns);
}

/*
 * Adds what nobody is known to have had of a wait, so that all add up to it. *last: what is left of the time in which
 * one leg only was at work.
 */
static void complete_wait(struct blame *b, const struct request *q, const struct request_wait *w, unsigned first,
			  uint64_t *last)
{
	const struct request_facts *facts = requests_facts(b->requests, q);
	uint64_t ns = w->ns, part;

	for (unsigned i = first; i < b->num_waits; i++)
		ns -= b->waits[i].ns;
	if (w->layer == LAYER_BUFFER) {
		add_wait(b, BLAME_BUFFERS, MAP_NONE, MAP_NONE, ns);
	} else if (is_device(b, q, w) ||
		   (w->layer == LAYER_BDEV && (facts->ns[FACT_NO_IO] || !needs_lcore_only(b, q, w)))) {
		part = min_u64(ns, *last);
		*last -= part;
		add_wait(b, BLAME_LEG, facts->last_leg, q->bdev, part);
		if (q->leg != MAP_NONE && requests_has_legs(b->requests, q->bdev))
			add_wait(b, BLAME_LEG, q->leg, q->bdev, ns - part);
		else
			add_wait(b, BLAME_BDEV, q->bdev, MAP_NONE, ns - part);
	} else if (w->layer == LAYER_HOST && wait_has_cycle(b, w)) {
		add_wait(b, BLAME_DATA, MAP_NONE, MAP_NONE, ns);
	} else {
		/* of a wait that is mostly no_io, all is */
		bool is_io = w->layer == LAYER_TARGET && facts->ns[FACT_NO_IO] >= w->ns / 2 && facts->ns[FACT_NO_IO];

		add_wait(b, is_io ? BLAME_IO : BLAME_LCORE,
			 is_io ? q->bdev : requests_lcore_name(b->requests, w->lcore), MAP_NONE, ns);
	}
}

static void divide_rest(struct blame *b, struct rest *rest)
{
	for (enum layer layer = 0; layer < LAYERS; layer++)
		add_layer(b, rest->q, layer, rest->layers[layer], false);
}

void blame_request(struct blame *b, const struct request *q)
{
	const struct request_facts *facts = requests_facts(b->requests, q);
	struct rest rest = {.q = q};
	uint64_t last = facts->last_leg != MAP_NONE ? facts->ns[FACT_LEG] : 0;

	b->n = b->num_waits = 0;
	memcpy(rest.layers, q->layers, sizeof(rest.layers));
	for (unsigned i = 0; i < q->num_waits; i++) {
		const struct request_wait *w = &b->requests->waits[q->waits + i];

		rest.waits[i] = (struct rest_wait){w, w->ns, min_u64(w->silent, w->ns)};
	}
	divide_held(b, &rest, FACT_OFF_CPU, facts->off_cpu_by, facts->num_off_cpu_by);
	divide_held(b, &rest, FACT_IRQ, facts->irq_by, facts->num_irq_by);
	/* what is innermost comes first */
	for (unsigned i = FACTS_PROVEN; i--;)
		divide_measured(b, &rest, fact_proven[i], q->bdev);
	divide_measured(b, &rest, FACT_LEG, facts->last_leg);
	divide_measured(b, &rest, FACT_DISK, q->bdev);
	for (unsigned i = 0; i < q->num_waits; i++) {
		unsigned first = b->num_waits;

		divide_wait(b, &rest, &rest.waits[i]);
		complete_wait(b, q, rest.waits[i].wait, first, &last);
	}
	divide_rest(b, &rest);
}

void blame_free(struct blame *b)
{
	for (size_t i = 0; i < b->requests->num_lcores; i++)
		free(b->lcores[i].all);
	free(b->lcores);
	free(b->bdevs);
	map_free(&b->silences);
}
