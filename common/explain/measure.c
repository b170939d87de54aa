/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"

#include <stdlib.h>

#include "table.h"

/* What is counted of the requests of a group. */
struct measure {
	struct tally *tally;
	struct tally_group *group;
	struct blame *blame;
	struct compare compare;
	struct tally_times *references; /* by class: of its fast requests */
	uint64_t *slow_of[SLOWS];       /* by class: slow requests that are compared with its fast ones */
	uint64_t end[SLOWS];            /* of the latest slow request */
	uint64_t hash;                  /* of all requests: other traces may have some of the same starts */
};

static void add_times(struct tally_times *times, const struct requests *r, const struct request *q)
{
	const struct request_facts *facts = requests_facts(r, q);

	times->n++;
	times->life += q->life;
	for (unsigned i = 0; i < LAYERS; i++)
		times->layers[i] += q->layers[i];
	for (unsigned i = 0; i < OVERLAPS; i++)
		times->overlaps[i] += facts->ns[overlaps_facts[i]];
}

static void add_parts(struct tally_times *times, const struct blame *b)
{
	for (unsigned i = 0; i < b->n; i++)
		times->causes[tally_plain(b->parts[i].cause)] += b->parts[i].ns;
}

/* Requests come in the order of their starts. Returns whether one starts after all before it have ended. */
static bool starts_burst(uint64_t *end, bool first, const struct request *q)
{
	bool starts = first || q->start > *end;
	uint64_t own = q->start + q->life;

	*end = first || own > *end ? own : *end;
	return starts;
}

/* A request that has a cause for a notable part of its life. */
static void add_member(struct tally *t, struct tally_cause *cause, const struct request *q, uint64_t ns)
{
	struct tally_key key = cause->key;
	struct tally_victim *victim;

	cause->bursts += starts_burst(&cause->end, !cause->n, q);
	cause->n++;
	key.b = q->connection;
	victim = tally_victim(t, key);
	if (victim)
		victim->ns += ns;
}

static void add_cause(struct tally *t, uint32_t set, const struct request *q, const struct blame_part *part)
{
	struct tally_cause *cause = tally_cause(t, (struct tally_key){.set = set, .what = part->cause, .a = part->who});
	struct tally_example example = {part->proven, part->ns, q->start, q->source, q->covered};

	if (!cause)
		return;
	cause->ns += part->ns;
	cause->proven += part->proven;
	tally_keep_example(t, &cause->example, &example);
	if (part->ns >= q->life / 4)
		add_member(t, cause, q, part->ns);
}

static void add_slow(struct measure *m, enum slow slow, const struct request *q, uint32_t class)
{
	struct tally *t = m->tally;
	struct tally_set *set = &m->group->sets[slow];
	uint32_t number = tally_set_number(t, m->group, slow);
	const struct request_facts *facts = requests_facts(m->blame->requests, q);

	set->bursts += starts_burst(&m->end[slow], !set->slow.n, q);
	m->slow_of[slow][m->compare.classes[class].other]++;
	add_times(&set->slow, m->blame->requests, q);
	add_parts(&set->slow, m->blame);
	for (unsigned i = 0; i < m->blame->n; i++)
		add_cause(t, number, q, &m->blame->parts[i]);
	/* overlaps all of its life */
	if (facts->queue && q->host != MAP_NONE)
		add_cause(t, number, q, &(struct blame_part){FACT_QUEUE, q->host, .ns = q->life, .proven = q->life});
	for (unsigned i = 0; i < m->blame->num_waits; i++) {
		const struct blame_wait *w = &m->blame->waits[i];
		struct tally_wait *wait = tally_wait(
			t, (struct tally_key){.set = number, .what = w->what, .a = q->host, .b = w->of, .c = w->who});

		if (wait)
			wait->ns += w->ns;
	}
}

static void add_requests(struct measure *m)
{
	const struct compare *c = &m->compare;

	for (size_t i = 0; i < c->n; i++) {
		const struct request *q = compare_request(c, i);
		enum compare_set set = c->set_of[i];
		enum slow slow = SLOWS;

		if (set == SET_NONE || (set == SET_TAIL && !c->tail_is_slow))
			continue;
		/* what all have may take more time than what those of a tail have */
		if (set < SET_GROUP && c->classes[c->class_of[i]].is_alike)
			slow = SLOW_ALIKE;
		else if (set >= SET_GROUP)
			slow = set - SET_GROUP;
		else if (set == SET_REST)
			continue;
		blame_request(m->blame, q);
		if (set == SET_FAST) {
			add_times(&m->references[c->class_of[i]], m->blame->requests, q);
			add_parts(&m->references[c->class_of[i]], m->blame);
		}
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
	for (unsigned i = 0; i < OVERLAPS; i++)
		fast->overlaps[i] += scale(reference->overlaps[i], n, reference->n);
	for (unsigned i = 0; i < FACTS; i++)
		fast->causes[i] += scale(reference->causes[i], n, reference->n);
}

/* Any number of the same bits as i; different ones are independent for this purpose. */
static uint64_t mix(uint64_t i)
{
	i = (i + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
	i = (i ^ i >> 27) * 0x94d049bb133111eb;
	return i ^ i >> 31;
}

struct values {
	struct map map;
	struct value {
		struct trait_value value;
		uint64_t n, slow[SLOWS], hash;
	} * all;
	size_t n, cap;
};

static void count_values(struct values *values, const struct compare *c, enum trait trait)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct request *q = compare_request(c, i);
		struct trait_value value;
		struct value *v;

		if (c->set_of[i] == SET_NONE || !trait_of(c->requests, q, trait, &value))
			continue;
		/* a trait has names, small numbers with names, or numbers */
		v = table_put(&values->map, value.number ^ (uint64_t)value.name << 32, values->all, values->n,
			      values->cap);
		v->value = value;
		v->n++;
		if (c->set_of[i] >= SET_GROUP)
			v->slow[c->set_of[i] - SET_GROUP]++;
		v->hash += mix(mix(q->start) + c->order[i]);
	}
}

/* Adds the values for sets that have slow requests. */
static void add_values(struct measure *m, enum trait trait)
{
	struct values values = {};

	count_values(&values, &m->compare, trait);
	for (enum slow slow = 0; slow < SLOW_ALIKE; slow++)
		for (size_t i = 0; i < values.n && m->group->sets[slow].slow.n; i++) {
			const struct value *v = &values.all[i];
			struct tally_value *to = tally_value(
				m->tally, (struct tally_key){.set = tally_set_number(m->tally, m->group, slow),
							     .what = trait,
							     .a = v->value.name,
							     .c = v->value.number});

			if (!to)
				continue;
			to->slow += v->slow[slow];
			to->others += v->n - v->slow[slow];
			to->hash += mix(v->hash ^ m->hash);
		}
	map_free(&values.map);
	free(values.all);
}

/* A trace is divided into this many parts with the same number of requests; windows are some of them in a row. */
enum { PARTS = 64 };

/* What starts in a part, and in all before it. */
struct part {
	uint64_t slow, others, bursts;
};

static void count_parts(struct part parts[PARTS + 1], const struct compare *c)
{
	uint64_t end = 0;
	bool first = true;

	for (size_t i = 0; i < c->n; i++) {
		struct part *part = &parts[i * PARTS / c->n + 1];

		if (c->set_of[i] == SET_TAIL) {
			part->slow++;
			part->bursts += starts_burst(&end, first, compare_request(c, i));
			first = false;
		} else {
			part->others += c->set_of[i] != SET_NONE;
		}
	}
	for (unsigned i = 1; i <= PARTS; i++) {
		parts[i].slow += parts[i - 1].slow;
		parts[i].others += parts[i - 1].others;
		parts[i].bursts += parts[i - 1].bursts;
	}
}

/* From the first to the last request of the tail that starts in some parts. */
static struct tally_window window_of(const struct compare *c, unsigned from, unsigned to)
{
	struct tally_window window = {.begin = UINT64_MAX};

	for (size_t i = 0; i < c->n; i++) {
		uint64_t start = compare_request(c, i)->start;

		if (c->set_of[i] != SET_TAIL || i * PARTS / c->n < from || i * PARTS / c->n >= to)
			continue;
		window.begin = window.begin < start ? window.begin : start;
		window.end = start;
		window.slow++;
	}
	for (size_t i = 0; i < c->n; i++) {
		uint64_t start = compare_request(c, i)->start;

		window.others += c->set_of[i] != SET_TAIL && c->set_of[i] != SET_NONE && start >= window.begin &&
				 start <= window.end;
	}
	return window;
}

/* Of all windows, that with the largest difference of shares. */
static void find_window(struct tally_set *to, const struct compare *c)
{
	struct part parts[PARTS + 1] = {};
	double most = 0;
	unsigned from = 0, until = 0;

	if (!to->others)
		return;
	count_parts(parts, c);
	for (unsigned i = 0; i < PARTS; i++)
		for (unsigned k = i + 1; k <= PARTS; k++) {
			double difference = (double)(parts[k].slow - parts[i].slow) / to->slow.n -
					    (double)(parts[k].others - parts[i].others) / to->others;

			if (difference > most) {
				most = difference;
				from = i;
				until = k;
			}
		}
	if (until == from)
		return;
	to->window = window_of(c, from, until);
	to->window.bursts = parts[until].bursts - parts[from].bursts;
	to->window.candidates = PARTS * (PARTS + 1) / 2;
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
		/* a group is slow whenever it has requests */
		if (slow == SLOW_TAIL)
			find_window(set, c);
	}
}

/* The group that a request is explained in. */
static uint32_t group_of(const struct request *q, const struct measure_options *options)
{
	return options->group ? q->group : MAP_NONE;
}

/* Adds up n requests, which are those of a group. */
static void measure_group(struct tally *t, struct blame *b, const uint32_t *order, size_t n,
			  const struct measure_options *options)
{
	struct measure m = {.tally = t, .blame = b};

	compare_run(&m.compare, b->requests, order, n, &options->compare);
	/* what is incomplete may have nothing to be compared with */
	if (options->group && !m.compare.total) {
		compare_free(&m.compare);
		return;
	}
	m.group = tally_group(t, group_of(&b->requests->all[order[0]], options));
	m.references = mem_array(m.compare.num_classes, sizeof(*m.references));
	for (enum slow slow = 0; slow < SLOWS; slow++)
		m.slow_of[slow] = mem_array(m.compare.num_classes, sizeof(uint64_t));
	for (enum compare_set set = options->compare.against ? SET_REST : SET_FAST; set < SETS; set++)
		m.group->n += m.compare.counts[set];
	m.group->total = m.compare.total;
	for (size_t i = 0; i < n; i++) {
		const struct request *q = &b->requests->all[order[i]];

		m.hash += mix(mix(q->start) + q->life);
		m.group->longest = !q->base && q->life > m.group->longest ? q->life : m.group->longest;
	}
	add_requests(&m);
	finish_sets(&m);
	if (m.group->sets[SLOW_GROUP].slow.n || m.group->sets[SLOW_TAIL].slow.n)
		for (enum trait trait = 0; trait < TRAITS; trait++)
			add_values(&m, trait);
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

/* Counts the requests in flight that are far older than all that have ended; not --open, which explains them. */
static void add_old(struct tally *t, const struct requests *r, const bool *is_front,
		    const struct measure_options *options)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->all[i];
		uint32_t number;
		struct tally_group *group;

		if (!q->open || !q->wanted || q->base || (q->family != MAP_NONE && !is_front[q->family]))
			continue;
		number = map_get(&t->map, group_of(q, options));
		if (number == MAP_NONE)
			continue;
		group = &t->groups[number];
		if (q->life / TALLY_OLD < group->longest || !group->n)
			continue;
		group->old++;
		group->oldest = q->life > group->oldest ? q->life : group->oldest;
	}
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
	struct blame blame;
	struct run *runs;
	size_t n = 0, num_runs;

	blame_start(&blame, requests);
	for (size_t i = 0; i < requests->n; i++)
		if (is_compared(&requests->all[i], is_front, options))
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_group_and_start, &(struct order){requests->all, options});
	num_runs = find_runs(&runs, requests, order, n, options);
	for (size_t i = 0; i < num_runs; i++)
		if (t->num_groups < options->max_groups)
			measure_group(t, &blame, order + runs[i].first, runs[i].n, options);
		else
			t->groups_dropped++;
	/* without -g there is a group in any case */
	if (!options->group)
		tally_group(t, MAP_NONE);
	if (!options->open)
		add_old(t, requests, is_front, options);
	t->traces++;
	blame_free(&blame);
	free(runs);
	free(is_front);
	free(order);
}
