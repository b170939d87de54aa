/* SPDX-License-Identifier: BSD-3-Clause */
#include "traits.h"

#include <stdlib.h>

#include "table.h"

static const double CHANCE = 0.01;    /* that any of the values compared is due to it */
static const double DIFFERENCE = 0.2; /* of the shares of slow ones and others */
enum { SUPPORT = 5 };                 /* slow requests that have it */

const char *const traits_names[TRAITS] = {
	[TRAIT_HOST] = "host",     [TRAIT_QUEUE] = "queue", [TRAIT_BDEV] = "bdev",   [TRAIT_LEG] = "leg",
	[TRAIT_LCORE] = "lcore",   [TRAIT_TYPE] = "type",   [TRAIT_SIZE] = "blocks", [TRAIT_STATUS] = "status",
	[TRAIT_REGION] = "region", [TRAIT_DEPTH] = "qd",
};

/*
 * Fisher's exact test, one-sided: the probability that of n requests at least k have a value, if they are drawn at
 * random from all, of which `have` have it. Terms are relative to the largest one; small ones
 * end the sums.
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

static bool is_slow(const struct compare *c, size_t i, enum compare_set set)
{
	return c->set_of[i] == set;
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
	struct trait_value *all;
	size_t n, cap;
};

/* Values beyond these are not compared: they would have little support. */
enum { VALUES = 65536 };

static void count(struct values *values, const struct compare *c, enum compare_set set, enum trait trait)
{
	for (size_t i = 0; i < c->requests->n; i++) {
		uint64_t value = compare_trait(c->requests, &c->requests->all[i], trait);
		size_t n = values->n;
		struct trait_value *v;

		if (c->set_of[i] == SET_NONE || value == UINT64_MAX ||
		    (n >= VALUES && map_get(&values->map, value) == MAP_NONE))
			continue;
		v = table_put(&values->map, value, values->all, values->n, values->cap);
		if (values->n > n)
			*v = (struct trait_value){.trait = trait, .value = value};
		*(is_slow(c, i, set) ? &v->slow : &v->others) += 1;
		v->all += mix(i);
	}
}

static double difference(const struct traits *t, const struct trait_value *v)
{
	return (double)v->slow / t->slow - (double)v->others / t->others;
}

static int largest_first(const void *a, const void *b, void *context)
{
	const struct trait_value *x = a, *y = b;
	double dx = difference(context, x), dy = difference(context, y);

	if (dx != dy)
		return dx < dy ? 1 : -1;
	if (x->all != y->all)
		return x->all < y->all ? -1 : 1;
	return (x->trait > y->trait) - (x->trait < y->trait);
}

/* bursts: as many slow requests count. */
static bool is_chance(const struct traits *t, const struct trait_value *v, uint64_t bursts, size_t compared)
{
	uint64_t n = bursts && bursts < t->slow ? bursts : t->slow;
	uint64_t k = (unsigned __int128)v->slow * n / t->slow;

	return fisher(k, n, k + v->others, n + t->others) * compared > CHANCE;
}

void traits_find(struct traits *t, const struct compare *c, enum compare_set set, uint64_t bursts)
{
	struct values values[TRAITS] = {};
	size_t compared = 0;

	for (size_t i = 0; i < c->requests->n; i++)
		if (c->set_of[i] != SET_NONE)
			*(is_slow(c, i, set) ? &t->slow : &t->others) += 1;
	for (enum trait trait = 0; trait < TRAITS && t->slow && t->others; trait++) {
		count(&values[trait], c, set, trait);
		compared += values[trait].n;
	}
	for (enum trait trait = 0; trait < TRAITS; trait++) {
		for (size_t i = 0; i < values[trait].n; i++) {
			const struct trait_value *v = &values[trait].all[i];

			if (v->slow < SUPPORT || difference(t, v) < DIFFERENCE || is_chance(t, v, bursts, compared))
				continue;
			t->all = mem_room(t->all, t->n, &t->cap);
			t->all[t->n++] = *v;
		}
		free(values[trait].all);
		map_free(&values[trait].map);
	}
	if (t->n)
		qsort_r(t->all, t->n, sizeof(*t->all), largest_first, t);
}

void traits_free(struct traits *t)
{
	free(t->all);
}
