/* SPDX-License-Identifier: BSD-3-Clause */
#include "summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
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
	struct summary_key key = {.pid = s->without_pid ? 0 : e->pid};
	struct summary_row *row;
	uint32_t number;

	memcpy(key.disk, disk.p, disk.n);
	memcpy(key.comm, comm.p, comm.n);
	strcpy(key.type.text, print_type(e->flags).text);
	number = intern_add_below(&s->keys, (struct slice){(char *)&key, sizeof(key)}, MAX_ROWS);
	s->number++;
	if (number == MAP_NONE) {
		s->beyond++;
		return;
	}
	if (number == s->n) {
		s->rows = mem_room(s->rows, s->n, &s->cap);
		s->rows[s->n++] = (struct summary_row){};
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

	if (x->latency.sum != y->latency.sum)
		return x->latency.sum > y->latency.sum ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_key(a, b, context);
}

enum { MEAN, P50, P99, MAX, NUM_TIMES };

/* In nanoseconds. Returns whether they are known. */
static bool find_times(const struct histogram *h, uint64_t ns[NUM_TIMES])
{
	static const unsigned percentiles[] = {50 * 1000, 99 * 1000};

	ns[MEAN] = histogram_mean(h);
	histogram_percentiles(h, percentiles, 2, &ns[P50]);
	ns[MAX] = h->max;
	return h->count;
}

static void write_row(struct out *out, const struct summary_key *key, const struct summary_row *row)
{
	uint64_t ns[NUM_TIMES];
	bool known = find_times(&row->latency, ns);
	char pid[16] = "-";

	if (*key->comm)
		snprintf(pid, sizeof(pid), "%" PRIu32, key->pid);
	out_column(out, SLICE_ARRAY(key->disk), 9);
	out_column(out, SLICE_ARRAY(key->comm), 14);
	out_printf(out, "%-7s %-4s %9" PRIu64 " %14" PRIu64, pid, key->type.text, row->count, row->bytes);
	for (int i = 0; i < NUM_TIMES; i++)
		if (known)
			out_printf(out, " %9.3f", ns[i] / 1e6);
		else
			out_printf(out, " %9s", "-");
	out_printf(out, " %6" PRIu64 "\n", row->errors);
}

void summary_text(struct out *out, const struct summary *s)
{
	uint32_t *rows = intern_sort(&s->keys, by_time, s);

	out_printf(out, "%-9s %-14s %-7s %-4s %9s %14s %9s %9s %9s %9s %6s\n", "DISK", "COMM", "PID", "T", "COUNT",
		   "BYTES", "MEAN(ms)", "P50(ms)", "P99(ms)", "MAX(ms)", "ERRORS");
	for (uint32_t i = 0; i < s->n; i++)
		write_row(out, key_of(s, rows[i]), &s->rows[rows[i]]);
	free(rows);
}

static void write_name(struct out *out, const char *key, struct slice name)
{
	if (!name.n)
		return;
	out_text(out, key);
	out_json(out, name);
	out_char(out, ',');
}

void summary_json(struct out *out, const struct summary *s)
{
	static const char *const names[NUM_TIMES] = {",\"mean\":", ",\"p50\":", ",\"p99\":", ",\"max\":"};
	uint32_t *rows = intern_sort(&s->keys, by_time, s);

	for (uint32_t i = 0; i < s->n; i++) {
		const struct summary_key *key = key_of(s, rows[i]);
		const struct summary_row *row = &s->rows[rows[i]];
		uint64_t ns[NUM_TIMES];
		bool known = find_times(&row->latency, ns);

		out_char(out, '{');
		write_name(out, "\"disk\":", SLICE_ARRAY(key->disk));
		write_name(out, "\"comm\":", SLICE_ARRAY(key->comm));
		if (*key->comm)
			out_printf(out, "\"pid\":%" PRIu32 ",", key->pid);
		out_printf(out, "\"type\":\"%s\",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64, key->type.text, row->count,
			   row->bytes);
		for (int time = 0; known && time < NUM_TIMES; time++) {
			out_text(out, names[time]);
			out_us(out, ns[time]);
		}
		out_printf(out, ",\"errors\":%" PRIu64 "}\n", row->errors);
	}
	free(rows);
}

void summary_encode(struct out *out, const struct summary *s)
{
	uint32_t *rows = intern_sort(&s->keys, by_key, s);

	for (uint32_t i = 0; i < s->n; i++) {
		const struct summary_key *key = key_of(s, rows[i]);
		const struct summary_row *row = &s->rows[rows[i]];

		if (!row->latency.count)
			continue;
		out_text(out, "{\"group\":{");
		write_name(out, "\"disk\":", SLICE_ARRAY(key->disk));
		write_name(out, "\"comm\":", SLICE_ARRAY(key->comm));
		out_printf(out, "\"type\":\"%s\"},\"object\":\"io\",\"life\":true}\t", key->type.text);
		histogram_write(out, &row->latency);
		out_char(out, '\n');
	}
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
