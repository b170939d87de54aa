/* SPDX-License-Identifier: BSD-3-Clause */
#include "encode.h"

#include <err.h>
#include <stdlib.h>

#include "cells.h"
#include "json.h"
#include "lines.h"
#include "mem.h"
#include "number.h"
#include "progress.h"

/* The order of two JSON strings by their bytes, with the quote that ends them. */
static int compare_strings(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = memcmp(a.p, b.p, n);

	if (order || a.n == b.n)
		return order;
	return a.n > n ? (unsigned char)a.p[n] - '"' : '"' - (unsigned char)b.p[n];
}

/* The comma before "family" sorts before the brace that ends the key. */
static int compare_families(struct slice a, struct slice b)
{
	return a.n && b.n ? compare_strings(a, b) : !a.n - !b.n;
}

/* The order of the bytes of cells_members(). No group is a prefix of another. */
static int by_key(const void *a, const void *b, void *context)
{
	const struct latency *x = *(struct latency *const *)a, *y = *(struct latency *const *)b;
	const struct rows *rows = context;
	struct slice group = rows->groups.all[x->group], other = rows->groups.all[y->group];
	int order;

	/* "group" sorts before "object" */
	if (!group.n || !other.n)
		order = (group.n == 0) - (other.n == 0);
	else
		order = slice_compare(group, other);
	if (!order)
		order = compare_strings(rows_letter(rows, x->type), rows_letter(rows, y->type));
	/* "from" sorts before "life", and that before "to_reply" */
	if (!order && rows_is_transition(x) != rows_is_transition(y))
		return rows_is_transition(y) - rows_is_transition(x);
	if (!order && rows_is_life(x) != rows_is_life(y))
		return rows_is_life(y) - rows_is_life(x);
	if (!order && rows_is_transition(x)) {
		order = compare_strings(rows->states.all[x->from], rows->states.all[y->from]);
		order = order ? order : compare_strings(rows->states.all[x->to], rows->states.all[y->to]);
	}
	return order ? order : compare_families(rows_family(rows, x->type), rows_family(rows, y->type));
}

void encode_write(struct out *out, const struct rows *rows)
{
	size_t n = rows->num_filled;
	struct latency **sorted = mem_array(n, sizeof(struct latency *));
	struct columns key = {};

	for (size_t i = 0; i < n; i++)
		sorted[i] = rows->filled[i];
	qsort_r(sorted, n, sizeof(struct latency *), by_key, (void *)rows);
	for (size_t i = 0; i < n; i++) {
		key.row_n = 0;
		cells_members(&key, rows, &(struct rows_name){sorted[i]->group, sorted[i]->type}, sorted[i]);
		columns_members(out, '{', key.row, key.row_n);
		out_text(out, "}\t");
		histogram_write(out, &sorted[i]->times);
		out_char(out, '\n');
	}
	free(sorted);
	columns_end(&key);
}

static void read_sum(struct json *j, unsigned __int128 *sum)
{
	struct slice raw;

	if (!json_number(j, &raw))
		return;
	*sum = 0;
	for (size_t i = 0; i < raw.n; i++) {
		if (raw.p[i] < '0' || raw.p[i] > '9' || __builtin_mul_overflow(*sum, 10, sum) ||
		    __builtin_add_overflow(*sum, raw.p[i] - '0', sum)) {
			json_fail(j, "sum is no integer of up to 128 bits");
			return;
		}
	}
}

/* Totals of a histogram's counts, which its other members must agree with. */
struct counted {
	uint64_t count;
	unsigned __int128 lowest, highest; /* bounds of the sum */
	unsigned last;                     /* bucket */
};

static void read_counts(struct json *j, struct histogram *h, struct counted *t)
{
	for (json_array(j); json_element(j);) {
		uint64_t value = 0, count = 0;
		unsigned bucket;

		if (!json_array(j) || !json_element(j) || !json_u64(j, &value) || !json_element(j) ||
		    !json_u64(j, &count))
			json_fail(j, "[value,count] is expected");
		else if (json_element(j))
			json_fail(j, "[value,count] is expected");
		bucket = histogram_bucket(value);
		if (j->error)
			return;
		if (histogram_lowest(bucket) != value) {
			json_fail(j, "a value is not the lowest of a bucket");
			return;
		}
		if (!count || __builtin_add_overflow(t->count, count, &t->count)) {
			json_fail(j, "a count is 0, or the sum of them is too large");
			return;
		}
		histogram_fill(h, bucket, count);
		t->lowest += (unsigned __int128)value * count;
		t->highest += (unsigned __int128)histogram_highest(bucket) * count;
		if (bucket > t->last)
			t->last = bucket;
	}
}

/* Returns NULL, or what is wrong with the encoded histogram. */
static const char *read_histogram(struct histogram *h, struct slice text)
{
	struct counted totals = {};
	struct slice key, unit = {};
	struct json j;

	json_init(&j, text.p, text.n);
	for (json_object(&j); json_key(&j, &key);)
		if (json_is(key, "unit"))
			json_string(&j, &unit);
		else if (json_is(key, "count"))
			json_u64(&j, &h->count);
		else if (json_is(key, "sum"))
			read_sum(&j, &h->sum);
		else if (json_is(key, "max"))
			json_u64(&j, &h->max);
		else if (json_is(key, "counts"))
			read_counts(&j, h, &totals);
		else
			json_fail(&j, "an unknown key after the tab");
	if (!json_end(&j))
		return j.error;
	if (!unit.p || !slice_is(unit, "ns"))
		return "the unit is not ns";
	if (!totals.count || totals.count != h->count || h->sum < totals.lowest || h->sum > totals.highest ||
	    histogram_bucket(h->max) != totals.last)
		return "count, sum and max do not agree with the counts";
	return NULL;
}

/* Adds a histogram to the row of an encoded key. Returns NULL, or what is wrong. */
static const char *add_to_row(struct rows *rows, struct slice text, const struct histogram *h)
{
	struct slice key, group = {"", 0}, letter = {}, family = {"", 0}, from = {}, to = {};
	bool life = false, to_reply = false;
	struct json j;

	json_init(&j, text.p, text.n);
	for (json_object(&j); json_key(&j, &key);)
		if (json_is(key, "group"))
			json_value(&j, &group);
		else if (json_is(key, "object"))
			json_string(&j, &letter);
		else if (json_is(key, "family"))
			json_string(&j, &family);
		else if (json_is(key, "from"))
			json_string(&j, &from);
		else if (json_is(key, "to"))
			json_string(&j, &to);
		else if (json_is(key, "life"))
			json_bool(&j, &life);
		else if (json_is(key, "to_reply"))
			json_bool(&j, &to_reply);
		else
			json_fail(&j, "an unknown key before the tab");
	if (!json_end(&j))
		return j.error;
	if (!letter.p || !from.p != !to.p || !!from.p + life + to_reply != 1 || (group.n && *group.p != '{'))
		return "object, from and to are expected before the tab, or object and life or to_reply";
	return rows_merge(
		rows, (struct rows_key){group, letter, family, from.p ? &from : NULL, from.p ? &to : NULL, to_reply},
		h);
}

struct encoded {
	struct rows *rows;
	struct lines lines;
	struct out utf8; /* in memory */
};

/* A lines_callback: a malformed line changes nothing. */
static const char *add_line(void *context, struct slice line)
{
	struct encoded *e = context;
	bool repaired = lines_repair(&e->lines, &line, &e->utf8);
	const char *tab = memchr(line.p, '\t', line.n), *error;
	struct histogram h = {};

	if (!tab)
		return "not a line of trace-latency -e: it has no tab";
	error = read_histogram(&h, slice_between(tab + 1, line.p + line.n));
	if (!error)
		error = add_to_row(e->rows, slice_between(line.p, tab), &h);
	histogram_clear(&h);
	return !error && repaired ? LINES_REPAIRED : error;
}

int encode_read(struct rows *rows, const char *path, const char *reader, uint64_t *read)
{
	struct encoded e = {.rows = rows, .utf8.fd = OUT_MEMORY};
	struct interactive interactive;
	int status;

	if (lines_open(&e.lines, path) != 0)
		err(EXIT_FAILURE, "%s", e.lines.name);
	lines_expect(&e.lines, KIND_ENCODED, reader);
	interactive_start(&interactive, &e.lines, NULL);
	status = lines_each(&e.lines, add_line, &e);
	*read = e.lines.number;
	out_close(&e.utf8);
	if (e.lines.is)
		exit(EXIT_FAILURE);
	return status;
}
