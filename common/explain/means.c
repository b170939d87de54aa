/* SPDX-License-Identifier: BSD-3-Clause */
#include "means.h"

/* The mean of a difference, rounded towards 0. */
static __int128 mean(unsigned __int128 slow, unsigned __int128 fast, uint64_t n)
{
	return ((__int128)slow - (__int128)fast) / (__int128)n;
}

/* fast is what adds up with more, and the largest layer gets what rounding leaves. */
struct means means_of(const struct tally_set *set)
{
	const struct tally_times *slow = &set->slow, *fast = &set->fast;
	struct means m = {};
	__int128 left;

	if (!slow->n)
		return m;
	m.slow = mean(slow->life, 0, slow->n);
	m.more = left = mean(slow->life, fast->life, slow->n);
	m.fast = m.slow - m.more;
	for (unsigned i = 0; i < LAYERS; i++) {
		m.layers[i] = mean(slow->layers[i], fast->layers[i], slow->n);
		left -= m.layers[i];
	}
	m.layers[means_largest(&m)] += left;
	for (unsigned i = 0; i < OVERLAPS; i++)
		m.overlaps[i] = mean(slow->facts[fact_overlaps[i]], fast->facts[fact_overlaps[i]], slow->n);
	return m;
}

enum layer means_largest(const struct means *m)
{
	enum layer largest = 0;

	for (enum layer layer = 1; layer < LAYERS; layer++)
		largest = m->layers[layer] > m->layers[largest] ? layer : largest;
	return largest;
}
