/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"

#include <stdlib.h>

#include "table.h"

/* What is counted of the requests of a group. */
struct measure {
	struct tally *tally;
	struct tally_group *group;
	struct ledger *ledger;
	struct compare compare;
	struct tally_times *references;      /* by class: of its fast requests */
	uint64_t *slow_of[SLOWS];            /* by class: slow requests that are compared with its fast ones */
	struct requests_burst bursts[SLOWS]; /* of slow requests */
	struct requests_burst fact_bursts[SLOWS][FACTS];
};

/* The request of the latest ledger_request(). */
static void add_times(struct tally_times *times, const struct ledger *l, const struct request *q)
{
	times->n++;
	times->life += q->life;
	for (unsigned i = 0; i < LAYERS; i++)
		times->layers[i] += q->layers[i];
	for (unsigned i = 0; i < l->n; i++)
		times->facts[tally_plain(l->entries[i].fact)] += l->entries[i].ns;
}

static void add_rows(struct tally *t, uint32_t set, const struct ledger *l, const struct request *q)
{
	for (unsigned i = 0; i < l->n; i++)
		tally_add(t, set, q, &l->entries[i]);
}

static void add_slow(struct measure *m, enum slow slow, const struct request *q, uint32_t class)
{
	struct tally_set *set = &m->group->sets[slow];
	uint32_t number = tally_set_number(m->tally, m->group, slow);
	bool has[FACTS] = {};

	set->bursts += requests_start_burst(&m->bursts[slow], q);
	m->slow_of[slow][m->compare.classes[class].other]++;
	add_times(&set->slow, m->ledger, q);
	add_rows(m->tally, number, m->ledger, q);
	if (requests_facts(m->ledger->requests, q)->queue && q->host != MAP_NONE)
		tally_add(m->tally, number, q, &(struct ledger_entry){FACT_QUEUE, MAP_NONE, q->host, q->life, q->life});
	for (unsigned i = 0; i < m->ledger->n; i++)
		has[m->ledger->entries[i].fact] |= m->ledger->entries[i].ns >= q->life / FLOOR_TIMES;
	for (enum fact fact = 0; fact < FACTS; fact++)
		if (has[fact])
			set->fact_bursts[fact] += requests_start_burst(&m->fact_bursts[slow][fact], q);
}

static void add_requests(struct measure *m)
{
	const struct compare *c = &m->compare;

	for (size_t i = 0; i < c->n; i++) {
		const struct request *q = compare_request(c, i);
		enum compare_set set = c->set_of[i];
		enum slow slow = SLOWS;

		if (set == SET_TAIL && !c->tail_is_slow)
			continue;
		/* what all have may take more time than what those of a tail have */
		if (set < SET_GROUP && c->classes[c->class_of[i]].is_alike)
			slow = SLOW_ALIKE;
		else if (set >= SET_GROUP)
			slow = set - SET_GROUP;
		else if (set == SET_REST)
			continue;
		ledger_request(m->ledger, q);
		if (set == SET_FAST)
			add_times(&m->references[c->class_of[i]], m->ledger, q);
		if (slow < SLOWS)
			add_slow(m, slow, q, c->class_of[i]);
	}
}

/* The part of a sum that n requests out of all have. */
static unsigned __int128 scale(unsigned __int128 sum, uint64_t n, uint64_t all)
{
	return sum / all * n + sum % all * n / all;
}

/* Adds what n fast requests spend; what rounding leaves goes to the largest layer, so that all add up. */
static void add_fast(struct tally_times *fast, const struct tally_times *reference, uint64_t n)
{
	unsigned __int128 life = scale(reference->life, n, reference->n), left = life;
	unsigned largest = 0;

	for (unsigned i = 0; i < LAYERS; i++) {
		unsigned __int128 part = scale(reference->layers[i], n, reference->n);

		fast->layers[i] += part;
		left -= part;
		largest = reference->layers[i] > reference->layers[largest] ? i : largest;
	}
	fast->layers[largest] += left;
	fast->life += life;
	fast->n += reference->n;
	for (unsigned i = 0; i < FACTS; i++)
		fast->facts[i] += scale(reference->facts[i], n, reference->n);
}

static void finish_sets(struct measure *m)
{
	const struct compare *c = &m->compare;
	uint64_t all = 0;

	for (enum compare_set set = SET_FAST; set < SETS; set++)
		all += c->counts[set];
	for (enum slow slow = 0; slow < SLOWS; slow++) {
		struct tally_set *set = &m->group->sets[slow];

		for (size_t i = 0; i < c->num_classes && slow != SLOW_ALIKE; i++)
			if (m->slow_of[slow][i] && m->references[i].n)
				add_fast(&set->fast, &m->references[i], m->slow_of[slow][i]);
		if (!set->slow.n)
			continue;
		set->others = all - set->slow.n;
		set->excess = c->excess[slow + SET_GROUP];
		if (slow != SLOW_ALIKE)
			traits_find(&set->traits, c, slow + SET_GROUP);
	}
}

static void count_failed(struct tally_group *group, uint32_t success, const struct request *q)
{
	struct tally_status *status = group->statuses;

	if (q->base || q->status == MAP_NONE || q->status == success)
		return;
	group->failed++;
	while (status->n && status->name != q->status)
		if (++status == group->statuses + TALLY_STATUSES)
			return;
	status->name = q->status;
	status->n++;
}

/* The group that a request is explained in. */
static uint32_t group_of(const struct request *q, const struct measure_options *options)
{
	return options->group ? q->group : MAP_NONE;
}

/* Adds up n requests, which are those of a group; changes their order. */
static void measure_group(struct tally *t, struct ledger *l, uint32_t *order, size_t n,
			  const struct measure_options *options)
{
	struct measure m = {.tally = t, .ledger = l};
	uint32_t success;

	compare_run(&m.compare, l->requests, order, n, &options->compare);
	/* what is incomplete may have nothing to be compared with */
	if (options->group && !m.compare.total) {
		compare_free(&m.compare);
		return;
	}
	m.group = tally_group(t, group_of(&l->requests->all[order[0]], options));
	m.references = mem_array(m.compare.num_classes, sizeof(*m.references));
	for (enum slow slow = 0; slow < SLOWS; slow++)
		m.slow_of[slow] = mem_array(m.compare.num_classes, sizeof(uint64_t));
	for (enum compare_set set = options->compare.against ? SET_REST : SET_FAST; set < SETS; set++)
		m.group->n += m.compare.counts[set];
	m.group->total = m.compare.total;
	success = intern_get(t->names, slice_of("success"));
	for (size_t i = 0; i < n; i++)
		count_failed(m.group, success, &l->requests->all[order[i]]);
	add_requests(&m);
	finish_sets(&m);
	for (enum slow slow = 0; slow < SLOWS; slow++)
		free(m.slow_of[slow]);
	free(m.references);
	compare_free(&m.compare);
}

/* Whether the family of each request is one of hosts; if there are no such families, all are. */
static bool *find_families(const struct requests *r)
{
	bool *is_front = mem_array(r->names.n + 1, sizeof(*is_front)), any = false;

	for (size_t i = 0; i < r->n; i++) {
		uint32_t family = r->all[i].family;

		if (r->all[i].front && family != MAP_NONE)
			any = is_front[family] = true;
	}
	for (uint32_t i = 0; i <= r->names.n && !any; i++)
		is_front[i] = true;
	return is_front;
}

static bool is_compared(const struct request *q, const bool *is_front, const struct measure_options *options)
{
	if (!q->wanted || (q->family != MAP_NONE && !is_front[q->family]))
		return false;
	return (!q->open || options->open) && !(q->cut && options->compare.against);
}

struct order {
	const struct request *all;
	const struct measure_options *options;
};

static int by_group_and_start(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct request *x = &order->all[i], *y = &order->all[k];

	if (order->options->group && x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (i > k) - (i < k);
}

struct run {
	size_t first, n;
	unsigned __int128 life;
};

static int by_life(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->life != y->life)
		return x->life < y->life ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

/* The groups among the sorted requests, those with most time first. Returns how many; the caller frees them. */
static size_t find_runs(struct run **runs, const struct requests *r, const uint32_t *order, size_t n,
			const struct measure_options *options)
{
	size_t num = 0, cap = 0;

	*runs = NULL;
	for (size_t i = 0; i < n; i++) {
		if (!i || group_of(&r->all[order[i]], options) != group_of(&r->all[order[i - 1]], options)) {
			*runs = mem_room(*runs, num, &cap);
			(*runs)[num++] = (struct run){.first = i};
		}
		(*runs)[num - 1].n++;
		(*runs)[num - 1].life += r->all[order[i]].life;
	}
	if (num)
		qsort(*runs, num, sizeof(**runs), by_life);
	return num;
}

void measure_trace(struct tally *t, struct requests *requests, const struct measure_options *options)
{
	uint32_t *order = mem_array(requests->n, sizeof(*order));
	bool *is_front = find_families(requests);
	struct ledger ledger;
	struct run *runs;
	size_t n = 0, num_runs;

	ledger_start(&ledger, requests);
	for (size_t i = 0; i < requests->n; i++)
		if (is_compared(&requests->all[i], is_front, options))
			order[n++] = i;
	if (!options->compare.against && !options->compare.min_ns) {
		t->older = n;
		n = requests_window(requests, order, n);
		t->older -= n;
	}
	qsort_r(order, n, sizeof(*order), by_group_and_start, &(struct order){requests->all, options});
	num_runs = find_runs(&runs, requests, order, n, options);
	for (size_t i = 0; i < num_runs; i++)
		if (t->num_groups < options->max_groups)
			measure_group(t, &ledger, order + runs[i].first, runs[i].n, options);
		else
			t->groups_dropped++;
	/* without -g there is a group in any case */
	if (!options->group)
		tally_group(t, MAP_NONE);
	ledger_free(&ledger);
	free(runs);
	free(is_front);
	free(order);
}

void measure_ledger(struct tally *t, struct requests *requests)
{
	struct ledger ledger;

	ledger_start(&ledger, requests);
	for (const struct request *q = requests->all; q < requests->all + requests->n; q++) {
		if (!q->wanted)
			continue;
		ledger_request(&ledger, q);
		add_rows(t, TALLY_LEDGER, &ledger, q);
	}
	ledger_free(&ledger);
}
