/* SPDX-License-Identifier: BSD-3-Clause */
#include "histogram.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

/* Buckets of a power of two, and their logarithm. */
enum { HALF = 1024, HALF_BITS = 10 };

unsigned histogram_bucket(uint64_t value)
{
	/* the number of low bits in which the values of a bucket differ */
	unsigned shift = value < 2 * HALF ? 0 : 63 - __builtin_clzll(value) - HALF_BITS;

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

/* The index of the first bar of the list that is not before this bucket. */
static unsigned find_bar(const struct histogram *h, unsigned bucket)
{
	unsigned i = 0;

	while (i < h->num_list && h->list[i].bucket < bucket)
		i++;
	return i;
}

/* The page of a bucket's counter; NULL when all counters of the page are 0. */
static const uint64_t *page_of(const struct histogram *h, unsigned bucket)
{
	const struct histogram_book *book = h->books[bucket / HISTOGRAM_PAGE / HISTOGRAM_PAGES];

	return book ? book->pages[bucket / HISTOGRAM_PAGE % HISTOGRAM_PAGES] : NULL;
}

static bool next_in_books(const struct histogram *h, unsigned *bucket, uint64_t *count)
{
	while (*bucket < HISTOGRAM_BUCKETS) {
		const uint64_t *page = page_of(h, *bucket);

		if (!page) {
			/* on to the next page */
			*bucket += HISTOGRAM_PAGE - *bucket % HISTOGRAM_PAGE;
			continue;
		}
		*count = page[*bucket % HISTOGRAM_PAGE];
		if (*count)
			return true;
		++*bucket;
	}
	return false;
}

/*
 * Finds the first bucket from *bucket on that has values, and their number. Returns false if there is none.
 *
 *	for (unsigned b = 0; next(h, &b, &count); b++)
 */
static bool next(const struct histogram *h, unsigned *bucket, uint64_t *count)
{
	unsigned i;

	if (h->books)
		return next_in_books(h, bucket, count);
	i = find_bar(h, *bucket);
	if (i == h->num_list)
		return false;
	*bucket = h->list[i].bucket;
	*count = h->list[i].count;
	return true;
}

static void fill_books(struct histogram *h, unsigned bucket, uint64_t count)
{
	struct histogram_book **book = &h->books[bucket / HISTOGRAM_PAGE / HISTOGRAM_PAGES];
	uint64_t **page;

	if (!*book)
		*book = mem_array(1, sizeof(**book));
	page = &(*book)->pages[bucket / HISTOGRAM_PAGE % HISTOGRAM_PAGES];
	if (!*page)
		*page = mem_array(HISTOGRAM_PAGE, sizeof(**page));
	(*page)[bucket % HISTOGRAM_PAGE] += count;
}

/* Moves the counters of a full list to books. */
static void start_books(struct histogram *h)
{
	h->books = mem_array(HISTOGRAM_BOOKS, sizeof(*h->books));
	for (unsigned i = 0; i < h->num_list; i++)
		fill_books(h, h->list[i].bucket, h->list[i].count);
	free(h->list);
	h->list = NULL;
	h->num_list = h->cap_list = 0;
}

static void insert_bar(struct histogram *h, unsigned at, struct histogram_bar bar)
{
	if (h->num_list == h->cap_list) {
		h->cap_list = h->cap_list ? 2 * h->cap_list : 1;
		h->list = mem_resize(h->list, h->cap_list, sizeof(*h->list));
	}
	memmove(&h->list[at + 1], &h->list[at], (h->num_list - at) * sizeof(*h->list));
	h->list[at] = bar;
	h->num_list++;
}

void histogram_fill(struct histogram *h, unsigned bucket, uint64_t count)
{
	unsigned i;

	if (!h->books) {
		i = find_bar(h, bucket);
		if (i < h->num_list && h->list[i].bucket == bucket) {
			h->list[i].count += count;
			return;
		}
		if (h->num_list < HISTOGRAM_LIST) {
			insert_bar(h, i, (struct histogram_bar){count, bucket});
			return;
		}
		start_books(h);
	}
	fill_books(h, bucket, count);
}

void histogram_record(struct histogram *h, uint64_t value)
{
	histogram_fill(h, histogram_bucket(value), 1);
	h->count++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
}

bool histogram_merge(struct histogram *h, const struct histogram *from)
{
	uint64_t total, count;

	/* no bucket has more than the total, so no bucket overflows */
	if (__builtin_add_overflow(h->count, from->count, &total))
		return false;
	for (unsigned b = 0; next(from, &b, &count); b++)
		histogram_fill(h, b, count);
	h->count = total;
	h->sum += from->sum;
	if (from->max > h->max)
		h->max = from->max;
	return true;
}

uint64_t histogram_mean(const struct histogram *h)
{
	return h->count ? (h->sum + h->count / 2) / h->count : 0;
}

/* The number of values in this share, at least 1. */
static uint64_t rank(const struct histogram *h, unsigned thousandths)
{
	const unsigned all = 100 * 1000;
	uint64_t values = ((unsigned __int128)h->count * thousandths + all - 1) / all;

	return values ? values : 1;
}

void histogram_percentiles(const struct histogram *h, const unsigned *thousandths, unsigned n, uint64_t *values)
{
	uint64_t seen = 0, highest = 0, count;
	unsigned b = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t wanted = rank(h, thousandths[i]);

		for (; seen < wanted && next(h, &b, &count); b++) {
			seen += count;
			highest = histogram_highest(b);
		}
		values[i] = highest < h->max ? highest : h->max;
	}
}

void histogram_below(const struct histogram *h, const uint64_t *bounds, unsigned n, uint64_t *counts)
{
	uint64_t seen = 0, count;
	unsigned b = 0;

	for (unsigned i = 0; i < n; i++) {
		for (; next(h, &b, &count) && histogram_lowest(b) < bounds[i]; b++)
			seen += count;
		counts[i] = seen;
	}
}

void histogram_write_sum(struct out *out, unsigned __int128 sum)
{
	char digits[40], *p = digits + sizeof(digits);

	do
		*--p = '0' + sum % 10;
	while (sum /= 10);
	out_bytes(out, p, digits + sizeof(digits) - p);
}

void histogram_write(struct out *out, const struct histogram *h)
{
	const char *separator = "";
	uint64_t count;

	out_printf(out, "{\"unit\":\"ns\",\"count\":%" PRIu64 ",\"sum\":", h->count);
	histogram_write_sum(out, h->sum);
	out_printf(out, ",\"max\":%" PRIu64 ",\"counts\":[", h->max);
	for (unsigned b = 0; next(h, &b, &count); b++, separator = ",")
		out_printf(out, "%s[%" PRIu64 ",%" PRIu64 "]", separator, histogram_lowest(b), count);
	out_text(out, "]}");
}

unsigned histogram_fold(const struct histogram *h, uint64_t counts[HISTOGRAM_POWERS])
{
	unsigned last = 0;
	uint64_t count;

	for (unsigned b = 0; next(h, &b, &count); b++) {
		uint64_t value = histogram_lowest(b);

		/* buckets do not cross a power of two */
		last = value < 2 ? 0 : 63 - __builtin_clzll(value);
		counts[last] += count;
	}
	return last;
}

void histogram_clear(struct histogram *h)
{
	for (unsigned b = 0; h->books && b < HISTOGRAM_BOOKS; b++) {
		for (unsigned page = 0; h->books[b] && page < HISTOGRAM_PAGES; page++)
			free(h->books[b]->pages[page]);
		free(h->books[b]);
	}
	free(h->books);
	free(h->list);
	*h = (struct histogram){};
}
