/* SPDX-License-Identifier: BSD-3-Clause */
#include "code.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "interactive.h"
#include "json.h"
#include "lines.h"
#include "number.h"

static char *put(char *to, const char *text, struct slice s)
{
	to = mempcpy(to, text, strlen(text));
	return mempcpy(to, s.p, s.n);
}

/* The key of a row, in memory that the caller frees. */
static struct slice make_key(const struct rows *rows, const struct row *row)
{
	struct slice group = rows->groups.all[row->group], type = rows->types.all[row->type];
	struct slice from = {}, to = {};
	char *key, *end;

	if (!row_is_life(row)) {
		from = rows->states.all[row->from];
		to = rows->states.all[row->to];
	}
	end = key = malloc(group.n + type.n + from.n + to.n + 64);
	if (!key)
		err(EXIT_FAILURE, NULL);
	if (group.n) {
		end = put(end, "\"group\":", group);
		*end++ = ',';
	}
	end = put(end, "\"object\":\"", type);
	if (row_is_life(row)) {
		end = stpcpy(end, "\",\"life\":true");
	} else {
		end = put(end, "\",\"from\":\"", from);
		end = put(end, "\",\"to\":\"", to);
		*end++ = '"';
	}
	return (struct slice){key, end - key};
}

void code_write_key(struct out *out, const struct rows *rows, const struct row *row)
{
	struct slice key = make_key(rows, row);

	out_slice(out, key);
	free((char *)key.p);
}

static void write_sum(struct out *out, unsigned __int128 sum)
{
	char digits[40], *p = digits + sizeof(digits);

	do
		*--p = '0' + sum % 10;
	while (sum /= 10);
	out_bytes(out, p, digits + sizeof(digits) - p);
}

static void write_histogram(struct out *out, const struct histogram *h)
{
	const char *separator = "";
	uint64_t count;

	out_printf(out, "{\"unit\":\"ns\",\"count\":%" PRIu64 ",\"sum\":", h->count);
	write_sum(out, h->sum);
	out_printf(out, ",\"max\":%" PRIu64 ",\"counts\":[", h->max);
	for (unsigned b = 0; histogram_next(h, &b, &count); b++, separator = ",")
		out_printf(out, "%s[%" PRIu64 ",%" PRIu64 "]", separator, histogram_lowest(b),
			   count);
	out_text(out, "]}");
}

struct line {
	struct slice key;
	const struct row *row;
};

/* No key is the beginning of another, as the quote or the brace that ends one ends nothing else. */
static int by_key(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int c = memcmp(x->key.p, y->key.p, x->key.n < y->key.n ? x->key.n : y->key.n);

	return c ? c : (x->key.n > y->key.n) - (x->key.n < y->key.n);
}

void code_write(struct out *out, const struct rows *rows)
{
	struct line *all = calloc(rows->n + 1, sizeof(*all));
	uint32_t n = 0;

	if (!all)
		err(EXIT_FAILURE, NULL);
	for (uint32_t i = 0; i < rows->n; i++)
		if (rows->all[i]->times.count)
			all[n++] = (struct line){make_key(rows, rows->all[i]), rows->all[i]};
	qsort(all, n, sizeof(*all), by_key);
	for (uint32_t i = 0; i < n; i++) {
		out_text(out, "{");
		out_slice(out, all[i].key);
		out_text(out, "}\t");
		write_histogram(out, &all[i].row->times);
		out_text(out, "\n");
		free((char *)all[i].key.p);
	}
	free(all);
}

/* Finds the row of an encoded key. NULL with what is wrong with it. */
static struct row *read_key(struct rows *rows, struct slice text, const char **error)
{
	struct slice key, group = {"", 0}, type = {}, from = {}, to = {};
	bool life = false;
	struct json j;

	json_init(&j, text.p, text.n);
	for (json_object(&j); json_key(&j, &key);)
		if (json_is(key, "group"))
			json_value(&j, &group);
		else if (json_is(key, "object"))
			json_string(&j, &type);
		else if (json_is(key, "from"))
			json_string(&j, &from);
		else if (json_is(key, "to"))
			json_string(&j, &to);
		else if (json_is(key, "life"))
			json_bool(&j, &life);
		else
			json_fail(&j, "an unknown key before the tab");
	if (!json_end(&j)) {
		*error = j.error;
		return NULL;
	}
	if (!type.p || !from.p != life || !to.p != life || (group.n && *group.p != '{')) {
		*error = "object, from and to are expected before the tab, or object and life";
		return NULL;
	}
	return rows_named(rows, group, type, life ? NULL : &from, life ? NULL : &to, error);
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

/* What the counts of a histogram say that the other members must agree with. */
struct totals {
	uint64_t count;
	unsigned __int128 lowest, highest; /* bounds of the sum */
	unsigned last;                     /* bucket */
};

static void read_counts(struct json *j, struct histogram *h, struct totals *t)
{
	for (json_array(j); json_element(j);) {
		uint64_t value = 0, count = 0;
		unsigned bucket;

		if (!json_array(j) || !json_element(j) || !json_u64(j, &value) ||
		    !json_element(j) || !json_u64(j, &count))
			json_fail(j, "[value,count] is expected");
		else if (json_element(j))
			json_fail(j, "[value,count] is expected");
		bucket = histogram_bucket(value);
		if (j->error)
			return;
		if (histogram_lowest(bucket) != value) {
			json_fail(j, "a value begins no bucket of ours");
			return;
		}
		if (!count || __builtin_add_overflow(t->count, count, &t->count)) {
			json_fail(j, "a count is 0, or the sum of them is too large");
			return;
		}
		if (histogram_fill(h, bucket, count) != 0)
			err(EXIT_FAILURE, NULL);
		t->lowest += (unsigned __int128)value * count;
		t->highest += (unsigned __int128)histogram_highest(bucket) * count;
		if (bucket > t->last)
			t->last = bucket;
	}
}

/* Returns NULL, or what is wrong with the encoded histogram. */
static const char *read_histogram(struct histogram *h, struct slice text)
{
	struct totals totals = {};
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
			json_fail(&j, "an unknown key behind the tab");
	if (!json_end(&j))
		return j.error;
	if (!unit.p || !slice_is(unit, "ns"))
		return "the unit is not ns";
	if (!totals.count || totals.count != h->count || h->sum < totals.lowest ||
	    h->sum > totals.highest || histogram_bucket(h->max) != totals.last)
		return "count, sum and max do not agree with the counts";
	return NULL;
}

/* A lines_take: a line that something is wrong with has changed nothing. */
static const char *add_line(void *context, struct slice line)
{
	struct rows *rows = context;
	const char *tab = memchr(line.p, '\t', line.n), *error;
	struct histogram h = {};
	struct row *row = NULL;

	if (!tab)
		return "not a line of trace-latency -e: it has no tab";
	error = read_histogram(&h, (struct slice){tab + 1, line.p + line.n - tab - 1});
	if (!error)
		row = read_key(rows, (struct slice){line.p, tab - line.p}, &error);
	if (row && histogram_merge(&row->times, &h) != 0)
		error = "no memory, or a count that does not fit 64 bits";
	histogram_clear(&h);
	return error;
}

int code_read(struct rows *rows, const char *path, const char *reader)
{
	struct interactive interactive;
	struct lines lines;
	int status;

	if (lines_open(&lines, path) != 0)
		err(EXIT_FAILURE, "%s", lines.name);
	lines_expect(&lines, KIND_ENCODED, reader);
	interactive_start(&interactive, &lines, NULL);
	status = lines_each(&lines, add_line, rows);
	if (lines.is)
		exit(EXIT_FAILURE);
	return status;
}
