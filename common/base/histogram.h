/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histograms of 64-bit values: the bucket scheme of HdrHistogram (Gil Tene) with three
 * significant decimal digits and a smallest unit of 1. Below 2048 every value has its own bucket;
 * above, each power of two is cut into 1024 equal ones. So all histograms have the same buckets,
 * and adding two of them is exact.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out.h"

enum {
	HISTOGRAM_BUCKETS = 55 * 1024,
	HISTOGRAM_POWERS = 64,
	/* up to this many buckets with values are in a list */
	HISTOGRAM_LIST = 16,
	/* above that, counters are in pages of pages, because a histogram uses few of its buckets */
	HISTOGRAM_PAGE = 32,
	HISTOGRAM_PAGES = 32,
	HISTOGRAM_BOOKS = HISTOGRAM_BUCKETS / HISTOGRAM_PAGES / HISTOGRAM_PAGE,
};

/* Pages and books are NULL if all their counters are zero. */
struct histogram_book {
	uint64_t *pages[HISTOGRAM_PAGES];
};

/* All zero is an empty histogram. */
struct histogram {
	uint64_t count, max;
	unsigned __int128 sum; /* of nanoseconds: the requests' total may exceed 584 years */
	struct histogram_bar {
		uint64_t count;
		unsigned bucket;
	} * list; /* by bucket, until there are books */
	unsigned num_list, cap_list;
	struct histogram_book **books; /* HISTOGRAM_BOOKS of them; NULL: all counters are in the list */
};

/* The number of a value's bucket, and the values that are in a bucket. */
unsigned histogram_bucket(uint64_t value);
uint64_t histogram_lowest(unsigned bucket);
uint64_t histogram_highest(unsigned bucket);

/* Counts a value. */
void histogram_record(struct histogram *h, uint64_t value);

/* Adds to the counter of one bucket; count, sum and max are left to the caller. */
void histogram_fill(struct histogram *h, unsigned bucket, uint64_t count);

/* Adds another histogram. False, with nothing changed, when the total would not fit 64 bits. */
bool histogram_merge(struct histogram *h, const struct histogram *from);

/* The mean, rounded. 0 for an empty histogram, here and below. */
uint64_t histogram_mean(const struct histogram *h);

/*
 * Percentiles in one scan: for each of n, given in ascending order in thousandths of a percent
 * (99900 for p99.9), the value that this share of all values does not exceed. As in HdrHistogram it
 * is the highest value of the bucket in which the count reaches the share, but at most max, which
 * is exact.
 */
void histogram_percentiles(const struct histogram *h, const unsigned *thousandths, unsigned n, uint64_t *values);

/*
 * For each of n bounds, which are in ascending order and each the lowest value of a bucket: the number of values below
 * it, which is exact.
 */
void histogram_below(const struct histogram *h, const uint64_t *bounds, unsigned n, uint64_t *counts);

/* Writes a sum of values in decimal. */
void histogram_write_sum(struct out *out, unsigned __int128 sum);

/*
 * Writes it as JSON, without loss; a value of counts is the lowest of its bucket:
 *
 *	{"unit":"ns","count":…,"sum":…,"max":…,"counts":[[value,n],…]}
 */
void histogram_write(struct out *out, const struct histogram *h);

/*
 * Adds the numbers of values to those of powers of two: counts[0] is that below 2, counts[i] from 1 << i to below twice
 * that. Returns the last power with values.
 */
unsigned histogram_fold(const struct histogram *h, uint64_t counts[HISTOGRAM_POWERS]);

/* Makes it empty. */
void histogram_clear(struct histogram *h);
