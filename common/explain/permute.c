/* SPDX-License-Identifier: BSD-3-Clause */
#include "permute.h"

#include <stdint.h>

#include "floor.h"

enum { CHOICES = 2000, MOST = CHOICES / (2 * FLOOR_CHANCE) }; /* half: traces may differ either way */

/* Of a fixed sequence, so that equal input has an equal answer. */
static uint64_t next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static double sum(const double *all, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += all[i];
	return sum;
}

bool permute_is_larger(double *all, size_t first, size_t n)
{
	double observed = sum(all, first);
	unsigned as_large = 0;
	uint64_t state = 0;

	if (!first || first == n || observed / first <= (sum(all, n) - observed) / (n - first))
		return false;
	for (unsigned choice = 0; choice < CHOICES && as_large < MOST; choice++) {
		for (size_t i = 0; i < first; i++) {
			size_t other = i + next(&state) % (n - i);
			double kept = all[i];

			all[i] = all[other];
			all[other] = kept;
		}
		as_large += sum(all, first) >= observed;
	}
	return as_large < MOST;
}
