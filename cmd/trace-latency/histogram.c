/* SPDX-License-Identifier: BSD-3-Clause */
#include "histogram.h"

#include <stdlib.h>

/* Buckets of a power of two, and their logarithm. */
enum { HALF = 1024, HALF_BITS = 10 };

/* How many of its last bits do not tell a value from others of its bucket. */
static unsigned shift_of(uint64_t value)
{
	return value < 2 * HALF ? 0 : 63 - __builtin_clzll(value) - HALF_BITS;
}

unsigned histogram_bucket(uint64_t value)
{
	unsigned shift = shift_of(value);

	return shift * HALF + (value >> shift);
}

static unsigned shift_of_bucket(unsigned bucket)
{
	return bucket < 2 * HALF ? 0 : bucket / HALF - 1;
}

uint64_t histogram_lowest(unsigned bucket)
{
	unsigned shift = shift_of_bucket(bucket);

	return (uint64_t)(bucket - shift * HALF) << shift;
}

uint64_t histogram_highest(unsigned bucket)
{
	return histogram_lowest(bucket) + (((uint64_t)1 << shift_of_bucket(bucket)) - 1);
}

bool histogram_next(const struct histogram *h, unsigned *bucket, uint64_t *count)
{
	while (*bucket < HISTOGRAM_BUCKETS) {
		const uint64_t *counter = histogram_counter(h, *bucket);

		if (!counter) {
			/* on to the next page */
			*bucket += HISTOGRAM_PAGE - *bucket % HISTOGRAM_PAGE;
			continue;
		}
		*count = *counter;
		if (*count)
			return true;
		++*bucket;
	}
	return false;
}

int histogram_fill(struct histogram *h, unsigned bucket, uint64_t count)
{
	struct histogram_book **book = &h->books[bucket / HISTOGRAM_PAGE / HISTOGRAM_PAGES];
	uint64_t **page;

	if (!*book)
		*book = calloc(1, sizeof(**book));
	if (!*book)
		return -1;
	page = &(*book)->pages[bucket / HISTOGRAM_PAGE % HISTOGRAM_PAGES];
	if (!*page)
		*page = calloc(HISTOGRAM_PAGE, sizeof(**page));
	if (!*page)
		return -1;
	(*page)[bucket % HISTOGRAM_PAGE] += count;
	return 0;
}

int histogram_record(struct histogram *h, uint64_t value)
{
	if (histogram_fill(h, histogram_bucket(value), 1) != 0)
		return -1;
	h->count++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
	return 0;
}

int histogram_merge(struct histogram *h, const struct histogram *from)
{
	uint64_t total, count;

	/* no bucket has more than the total, so none of them overflows either */
	if (__builtin_add_overflow(h->count, from->count, &total))
		return -1;
	for (unsigned b = 0; histogram_next(from, &b, &count); b++)
		if (histogram_fill(h, b, 0) != 0)
			return -1;
	for (unsigned b = 0; histogram_next(from, &b, &count); b++)
		histogram_fill(h, b, count);
	h->count = total;
	h->sum += from->sum;
	if (from->max > h->max)
		h->max = from->max;
	return 0;
}

uint64_t histogram_mean(const struct histogram *h)
{
	return h->count ? (h->sum + h->count / 2) / h->count : 0;
}

uint64_t histogram_percentile(const struct histogram *h, unsigned thousandths)
{
	const unsigned all = 100 * 1000;
	unsigned __int128 wanted = ((unsigned __int128)h->count * thousandths + all - 1) / all;
	uint64_t seen = 0, count;

	if (!wanted)
		wanted = 1;
	for (unsigned b = 0; histogram_next(h, &b, &count); b++) {
		seen += count;
		if (seen >= wanted)
			return histogram_highest(b) < h->max ? histogram_highest(b) : h->max;
	}
	return 0;
}

void histogram_clear(struct histogram *h)
{
	for (unsigned b = 0; b < HISTOGRAM_BOOKS; b++) {
		for (unsigned page = 0; h->books[b] && page < HISTOGRAM_PAGES; page++)
			free(h->books[b]->pages[page]);
		free(h->books[b]);
	}
	*h = (struct histogram){};
}
