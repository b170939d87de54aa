/* SPDX-License-Identifier: BSD-3-Clause */
#include "traits.h"

#include <stdlib.h>

#include "table.h"

enum { SAMPLES = 1 << 14 }; /* more prove no more, and would take long */

/* The name with most time. */
static uint32_t longest(const struct requests *r, uint32_t first, unsigned n)
{
	const struct request_share *shares = &r->shares[first], *most = NULL;

	for (unsigned i = 0; i < n; i++)
		if (!most || shares[i].ns > most->ns)
			most = &shares[i];
	return most ? most->name : MAP_NONE;
}

/* A long request is more often hit by what is short, so that does not count. */
static bool is_notable(const struct request *q, uint64_t ns)
{
	return ns && ns >= q->life / FLOOR_MINOR;
}

/* The value of a request. False if it has none. */
static bool value_of(const struct requests *r, const struct request *q, enum trait trait, struct trait_value *value)
{
	const struct request_facts *facts = requests_facts(r, q);

	*value = (struct trait_value){.name = MAP_NONE};
	switch (trait) {
	case TRAIT_HOST:
		value->name = q->host;
		break;
	case TRAIT_CONNECTION:
		value->name = q->connection;
		break;
	case TRAIT_BDEV:
		value->name = q->bdev;
		break;
	case TRAIT_LEG:
		value->name = requests_has_legs(r, q->bdev) ? q->leg : MAP_NONE;
		break;
	case TRAIT_LCORE:
		value->name = requests_lcore_name(r, q->lcore);
		break;
	case TRAIT_TYPE:
		value->name = q->type;
		break;
	case TRAIT_SIZE:
		value->number = q->blocks;
		return q->has_blocks;
	case TRAIT_STATUS:
		value->name = q->status;
		break;
	case TRAIT_REGION:
		value->name = q->has_region ? q->bdev : MAP_NONE;
		value->number = q->region;
		break;
	case TRAIT_DEPTH:
		value->number = q->qd;
		return q->has_qd;
	case TRAIT_OFF_CPU:
		if (is_notable(q, facts->ns[FACT_OFF_CPU]))
			value->name = longest(r, facts->off_cpu_by, facts->num_off_cpu_by);
		break;
	case TRAIT_IRQ:
		if (is_notable(q, facts->ns[FACT_IRQ]))
			value->name = longest(r, facts->irq_by, facts->num_irq_by);
		break;
	case TRAIT_FULL:
		value->name = facts->queue ? q->host : MAP_NONE;
		break;
	case TRAITS:
		break;
	}
	return value->name != MAP_NONE;
}

/*
 * Fisher's exact test, one-sided: the probability that of n requests at least k have a value, if they are drawn at
 * random from all, of which `have` have it. Terms are relative to the largest one; small ones end the sums.
 */
static double fisher(uint64_t k, uint64_t n, uint64_t have, uint64_t all)
{
	static const double NEGLIGIBLE = 1e-30;
	uint64_t most = n < have ? n : have, least = n + have > all ? n + have - all : 0;
	uint64_t mode = (unsigned __int128)(n + 1) * (have + 1) / (all + 2);
	double sum = 0, tail = 0, term = 1;

	mode = mode < least ? least : mode > most ? most : mode;
	for (uint64_t i = mode; i <= most && term > NEGLIGIBLE; i++) {
		sum += term;
		tail += i >= k ? term : 0;
		term *= (double)(have - i) * (double)(n - i) / ((double)(i + 1) * (double)(all - have + i + 1 - n));
	}
	term = 1;
	for (uint64_t i = mode; i > least && term > NEGLIGIBLE; i--) {
		term *= (double)i * (double)(all - have + i - n) / ((double)(have - i + 1) * (double)(n - i + 1));
		sum += term;
		tail += i - 1 >= k ? term : 0;
	}
	return tail / sum;
}

/* Any number of the same bits as i; different ones are independent for this purpose. */
static uint64_t mix(uint64_t i)
{
	i = (i + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
	i = (i ^ i >> 27) * 0x94d049bb133111eb;
	return i ^ i >> 31;
}

static double share_difference(const struct traits *t, uint64_t slow, uint64_t others)
{
	return (double)slow / t->slow - (double)others / t->others;
}

/* samples: of bursts, which have it; slow requests that overlap in time count once: what hits several is one event. */
static bool is_chance(const struct traits *t, uint64_t samples, uint64_t others, size_t compared)
{
	uint64_t all = t->bursts < t->slow ? t->bursts : t->slow, n = all < SAMPLES ? all : SAMPLES;
	uint64_t k = (unsigned __int128)samples * n / all;

	return fisher(k, n, k + others, n + t->others) * compared * FLOOR_CHANCE > 1;
}

/* Adds the values of a trait. */
static void count_values(struct traits *t, const struct compare *c, enum compare_set set, enum trait trait)
{
	struct map map = {};

	for (size_t i = 0; i < c->n; i++) {
		const struct request *q = compare_request(c, i);
		struct trait_value value;
		struct traits_value *v;

		if (!value_of(c->requests, q, trait, &value))
			continue;
		/* a trait has names, small numbers with names, or numbers */
		v = table_put(&map, value.number ^ (uint64_t)value.name << 32, t->all, t->n, t->cap);
		v->trait = trait;
		v->value = value;
		*(c->set_of[i] == set ? &v->slow : &v->others) += 1;
		v->hash += mix(mix(q->start) + c->order[i]);
	}
	map_free(&map);
}

static bool is_common(const struct traits *t, const struct traits_value *v, size_t compared)
{
	uint64_t samples = v->slow;

	if (t->bursts < t->slow)
		samples = (unsigned __int128)v->slow * t->bursts / t->slow;
	return v->slow >= FLOOR_EVENTS && share_difference(t, v->slow, v->others) >= 1.0 / FLOOR_SHARE &&
	       !is_chance(t, samples, v->others, compared);
}

static int largest_first(const void *a, const void *b, void *context)
{
	const struct traits_value *x = a, *y = b;
	const struct traits *t = context;
	double dx = share_difference(t, x->slow, x->others), dy = share_difference(t, y->slow, y->others);

	if (dx != dy)
		return dx < dy ? 1 : -1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->trait != y->trait)
		return x->trait < y->trait ? -1 : 1;
	if (x->value.name != y->value.name)
		return x->value.name < y->value.name ? -1 : 1;
	return (x->value.number > y->value.number) - (x->value.number < y->value.number);
}

/* A trace is divided into this many parts with the same number of requests; windows are some of them in a row. */
enum { PARTS = 64, WINDOWS = PARTS * (PARTS + 1) / 2 };

/* What starts in a part, and in all before it. */
struct part {
	uint64_t slow, others, bursts;
};

static void count_parts(struct part parts[PARTS + 1], const struct compare *c)
{
	struct requests_burst burst = {};

	for (size_t i = 0; i < c->n; i++) {
		struct part *part = &parts[i * PARTS / c->n + 1];

		if (c->set_of[i] == SET_TAIL) {
			part->slow++;
			part->bursts += requests_start_burst(&burst, compare_request(c, i));
		} else {
			part->others++;
		}
	}
	for (unsigned i = 1; i <= PARTS; i++) {
		parts[i].slow += parts[i - 1].slow;
		parts[i].others += parts[i - 1].others;
		parts[i].bursts += parts[i - 1].bursts;
	}
}

/* From the first to the last request of the tail that starts in some parts. */
static struct traits_window window_of(const struct compare *c, unsigned from, unsigned to)
{
	struct traits_window window = {.begin = UINT64_MAX};

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

		window.others += c->set_of[i] != SET_TAIL && start >= window.begin && start <= window.end;
	}
	return window;
}

/*
 * Of all windows, that with the largest difference of shares. It has to have most of the slow requests and of their
 * bursts: one long moment is no window.
 */
static void find_window(struct traits *t, const struct compare *c)
{
	struct part parts[PARTS + 1] = {};
	struct traits_window *w = &t->window;
	double most = 0;
	unsigned from = 0, until = 0;

	count_parts(parts, c);
	for (unsigned i = 0; i < PARTS; i++)
		for (unsigned k = i + 1; k <= PARTS; k++) {
			double difference = share_difference(t, parts[k].slow - parts[i].slow,
							     parts[k].others - parts[i].others);

			if (difference > most) {
				most = difference;
				from = i;
				until = k;
			}
		}
	if (until == from)
		return;
	*w = window_of(c, from, until);
	w->bursts = parts[until].bursts - parts[from].bursts;
	t->has_window = w->slow >= FLOOR_EVENTS && 2 * w->slow >= t->slow && 2 * w->bursts >= t->bursts &&
			share_difference(t, w->slow, w->others) >= 1.0 / FLOOR_SHARE &&
			!is_chance(t, w->bursts, w->others, WINDOWS);
}

void traits_find(struct traits *t, const struct compare *c, enum compare_set set)
{
	struct requests_burst burst = {};
	size_t compared, n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->set_of[i] == set) {
			t->slow++;
			t->bursts += requests_start_burst(&burst, compare_request(c, i));
		} else {
			t->others++;
		}
	if (!t->slow || !t->others)
		return;
	for (enum trait trait = 0; trait < TRAITS; trait++)
		count_values(t, c, set, trait);
	compared = t->n;
	for (size_t i = 0; i < compared; i++)
		if (is_common(t, &t->all[i], compared))
			t->all[n++] = t->all[i];
	/* there may be as many values as requests */
	t->all = mem_resize(t->all, n + 1, sizeof(*t->all));
	t->n = n;
	qsort_r(t->all, n, sizeof(*t->all), largest_first, t);
	/* a group is slow whenever it has requests */
	if (set == SET_TAIL)
		find_window(t, c);
}

void traits_free(struct traits *t)
{
	free(t->all);
}
