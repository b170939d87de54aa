/* SPDX-License-Identifier: BSD-3-Clause */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

#include "livelines.h"
#include "mem.h"
#include "minmax.h"
#include "print.h"

/* of some 10 KB each, at most */
enum { MAX_ROWS = 16384 };

/* All bytes after the end of a name are 0. */
struct summary_key {
	char disk[DISK_SIZE], comm[COMM_SIZE]; /* empty: unknown */
	struct word type;
	uint32_t pid;
};

static const struct summary_key *key_of(const struct summary *s, uint32_t row)
{
	return (const void *)s->keys.all[row].p;
}

void summary_add(struct summary *s, const struct biosnoop_event *e)
{
	struct slice disk = SLICE_ARRAY(e->disk), comm = SLICE_ARRAY(e->comm);
	struct summary_key key = {.pid = e->pid};
	struct summary_row *row;
	uint32_t number;

	memcpy(key.disk, disk.p, disk.n);
	memcpy(key.comm, comm.p, comm.n);
	strcpy(key.type.text, print_type(e->flags).text);
	number = intern_add_below(&s->keys, (struct slice){(char *)&key, sizeof(key)}, MAX_ROWS);
	if (number == MAP_NONE) {
		s->beyond++;
		return;
	}
	if (number == s->n) {
		mem_add(s->rows, s->n, s->cap, (struct summary_row){});
	}
	row = &s->rows[number];
	row->count++;
	row->bytes += e->bytes;
	row->errors += e->error != 0;
	if (e->issued_ns)
		histogram_record(&row->latency, e->end_ns > e->issued_ns ? e->end_ns - e->issued_ns : 0);
	else
		s->no_latency++;
}

static int by_key(const void *a, const void *b, void *context)
{
	return memcmp(key_of(context, *(uint32_t *)a), key_of(context, *(uint32_t *)b), sizeof(struct summary_key));
}

static int by_time(const void *a, const void *b, void *context)
{
	const struct summary *s = context;
	const struct summary_row *x = &s->rows[*(uint32_t *)a], *y = &s->rows[*(uint32_t *)b];

	return ORDER(y->latency.sum, x->latency.sum) ?: ORDER(y->count, x->count) ?: by_key(a, b, context);
}

static struct column_value time_of(const struct summary_row *row, uint64_t ns)
{
	return columns_if(row->latency.count, columns_ms(ns, 3));
}

static struct column_value percentile_of(const struct summary_row *row, unsigned thousandths)
{
	uint64_t ns;

	histogram_percentiles(&row->latency, &thousandths, 1, &ns);
	return time_of(row, ns);
}

/* write: livelines_heading() or livelines_line(). */
static void write_row(struct livelines *c, const struct summary_key *key, const struct summary_row *row,
		      void write(struct livelines *c, const struct column *columns, size_t n))
{
	const struct column columns[] = {
		{"DISK", "disk", 9, columns_name(SLICE_ARRAY(key->disk))},
		{"COMM", "comm", 15, columns_name(SLICE_ARRAY(key->comm))},
		{"PID", "pid", 7, columns_if(*key->comm, columns_number(key->pid))},
		{"T", "type", 4, columns_word(slice_of(key->type.text))},
		{"COUNT", "count", -9, columns_number(row->count)},
		{"BYTES", "bytes", -14, columns_spare(2, columns_number(row->bytes))},
		{"MEAN(ms)", "mean", -9, time_of(row, histogram_mean(&row->latency))},
		{"P50(ms)", "p50", -9, columns_spare(1, percentile_of(row, 50 * 1000))},
		{"P99(ms)", "p99", -9, percentile_of(row, 99 * 1000)},
		{"MAX(ms)", "max", -9, time_of(row, row->latency.max)},
		{"ERRORS", "errors", -6, columns_number(row->errors)},
	};

	write(c, columns, COUNT(columns));
}

void summary_print(struct livelines *c, const struct summary *s)
{
	uint32_t *rows = intern_sort(&s->keys, by_time, s);

	if (!c->json)
		write_row(c, &(struct summary_key){}, &(struct summary_row){}, livelines_heading);
	for (uint32_t i = 0; i < s->n; i++)
		write_row(c, key_of(s, rows[i]), &s->rows[rows[i]], livelines_line);
	free(rows);
}

void summary_free(struct summary *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		histogram_clear(&s->rows[i].latency);
	free(s->rows);
	intern_free(&s->keys);
	*s = (struct summary){};
}
