/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histograms of 64-bit values: the bucket scheme of HdrHistogram (Gil Tene) with three significant
 * decimal digits and a smallest unit of 1. Below 2048 every value has its own bucket; above, each power of
 * two is cut into 1024 equal ones. So the buckets of all histograms are the same, and adding two of them is
 * exact.
 */
#ifndef TRACE_LATENCY_HISTOGRAM_H
#define TRACE_LATENCY_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HISTOGRAM_BUCKETS = 55 * 1024,
	/* counters come in pages of pages, as a histogram uses few of its buckets */
	HISTOGRAM_PAGE = 32,
	HISTOGRAM_PAGES = 32,
	HISTOGRAM_BOOKS = HISTOGRAM_BUCKETS / HISTOGRAM_PAGES / HISTOGRAM_PAGE,
};

/* All zero is an empty histogram. */
struct histogram {
	uint64_t count, max;
	unsigned __int128
		sum; /* 64 bits are 584 years in nanoseconds, which many requests may well wait */
	struct histogram_book {
		uint64_t *pages[HISTOGRAM_PAGES]; /* NULL: all zero */
	} * books[HISTOGRAM_BOOKS];               /* ditto */
};

/* The number of a value's bucket, and the values that are in a bucket. */
unsigned histogram_bucket(uint64_t value);
uint64_t histogram_lowest(unsigned bucket);
uint64_t histogram_highest(unsigned bucket);

/* The counter of a bucket, NULL when it is 0 and has no page. */
static inline const uint64_t *histogram_counter(const struct histogram *h, unsigned bucket)
{
	const struct histogram_book *book = h->books[bucket / HISTOGRAM_PAGE / HISTOGRAM_PAGES];
	const uint64_t *page = book ? book->pages[bucket / HISTOGRAM_PAGE % HISTOGRAM_PAGES] : NULL;

	return page ? &page[bucket % HISTOGRAM_PAGE] : NULL;
}

/*
 * Finds the first bucket from *bucket on that has values, and their number. False when there is none.
 *
 *	for (unsigned b = 0; histogram_next(h, &b, &count); b++)
 */
bool histogram_next(const struct histogram *h, unsigned *bucket, uint64_t *count);

/*
 * Counts a value; counts one bucket's, leaving count, sum and max to the caller; counts all of another
 * histogram. They return -1 when there is no memory, and the last one, with nothing changed, when the total
 * would not fit 64 bits.
 */
int histogram_record(struct histogram *h, uint64_t value);
int histogram_fill(struct histogram *h, unsigned bucket, uint64_t count);
int histogram_merge(struct histogram *h, const struct histogram *from);

/* The mean, rounded. 0 for an empty histogram, here and below. */
uint64_t histogram_mean(const struct histogram *h);

/*
 * The value that thousandths of a percent of all values are not above, 99900 for p99.9: the highest value
 * of the bucket in which the count reaches that share, as HdrHistogram has it, but not above max, which is exact.
 */
uint64_t histogram_percentile(const struct histogram *h, unsigned thousandths);

/* Makes it empty. */
void histogram_clear(struct histogram *h);

#endif
