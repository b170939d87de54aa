/* SPDX-License-Identifier: BSD-3-Clause */
#include "traits.h"

#include <stdlib.h>

#include "mem.h"

static const double CHANCE = 0.01;    /* that any of the values, or of the windows, is due to it */
static const double DIFFERENCE = 0.2; /* of the shares of slow ones and others */
enum { SUPPORT = 5 };                 /* slow requests that have it */
enum { SAMPLES = 1 << 14 };           /* more prove no more, and would take long */

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

static double difference(const struct traits *t, const struct tally_value *v)
{
	return (double)v->slow / t->set->slow.n - (double)v->others / t->set->others;
}

static int largest_first(const void *a, const void *b, void *context)
{
	const struct tally_value *x = *(const struct tally_value *const *)a, *y = *(const struct tally_value *const *)b;
	const struct traits *t = context;
	double dx = difference(t, x), dy = difference(t, y);

	if (dx != dy)
		return dx < dy ? 1 : -1;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->key.what != y->key.what)
		return x->key.what < y->key.what ? -1 : 1;
	if (x->key.a != y->key.a)
		return tally_compare_names(t->tally, x->key.a, y->key.a);
	return (x->key.c > y->key.c) - (x->key.c < y->key.c);
}

/* samples: of bursts, which have it; slow requests that overlap in time count once: what hits several is one event. */
static bool is_chance(const struct traits *t, uint64_t samples, uint64_t others, size_t compared)
{
	const struct tally_set *set = t->set;
	uint64_t all = set->bursts < set->slow.n ? set->bursts : set->slow.n, n = all < SAMPLES ? all : SAMPLES;
	uint64_t k = (unsigned __int128)samples * n / all;

	return fisher(k, n, k + others, n + set->others) * compared > CHANCE;
}

static bool is_value_chance(const struct traits *t, const struct tally_value *v, size_t compared)
{
	const struct tally_set *set = t->set;

	if (set->bursts >= set->slow.n)
		return is_chance(t, v->slow, v->others, compared);
	return is_chance(t, (unsigned __int128)v->slow * set->bursts / set->slow.n, v->others, compared);
}

/* A window has to have most of the slow requests and of their bursts: one long moment is no window. */
static bool is_window(const struct traits *t)
{
	const struct tally_set *set = t->set;
	const struct tally_window *w = &set->window;

	if (w->slow < SUPPORT || 2 * w->slow < set->slow.n || 2 * w->bursts < set->bursts)
		return false;
	return (double)w->slow / set->slow.n - (double)w->others / set->others >= DIFFERENCE &&
	       !is_chance(t, w->bursts, w->others, w->candidates);
}

void traits_find(struct traits *t, const struct tally *tally, uint32_t set)
{
	size_t compared = 0;

	t->tally = tally;
	t->set = tally_set(tally, set);
	if (!t->set->others || !t->set->bursts)
		return;
	for (size_t i = 0; i < tally->num_values; i++)
		compared += tally->values[i].key.set == set;
	for (size_t i = 0; i < tally->num_values; i++) {
		const struct tally_value *v = &tally->values[i];

		if (v->key.set != set || v->slow < SUPPORT || v->slow > t->set->slow.n || v->others > t->set->others)
			continue;
		if (difference(t, v) < DIFFERENCE || is_value_chance(t, v, compared))
			continue;
		t->all = mem_room(t->all, t->n, &t->cap);
		t->all[t->n++] = v;
	}
	if (t->n)
		qsort_r(t->all, t->n, sizeof(*t->all), largest_first, t);
	t->has_window = is_window(t);
}

void traits_free(struct traits *t)
{
	free(t->all);
}
