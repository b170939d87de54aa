/* SPDX-License-Identifier: BSD-3-Clause */
#include "quantize.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "channels.h"
#include "mem.h"

enum { MAX_ROWS = 4096 };

/* All bytes after the end of a name are 0. */
struct quantize_key {
	char comm[COMM_SIZE];
	char waker[COMM_SIZE]; /* empty: the row is of calls */
	uint8_t kind, writes;  /* of calls */
};

static const struct quantize_key *key_of(const struct quantize *q, uint32_t row)
{
	return (const void *)q->keys.all[row].p;
}

/* NULL: there are too many rows. */
static struct quantize_row *row_of(struct quantize *q, const struct quantize_key *key)
{
	uint32_t number = intern_add_below(&q->keys, (struct slice){(const char *)key, sizeof(*key)}, MAX_ROWS);

	if (number == MAP_NONE)
		return NULL;
	if (number == q->n) {
		q->rows = mem_room(q->rows, q->n, &q->cap);
		q->rows[q->n++] = (struct quantize_row){};
	}
	q->rows[number].count++;
	return &q->rows[number];
}

static void copy_name(char to[COMM_SIZE], const char from[COMM_SIZE])
{
	memcpy(to, from, strnlen(from, COMM_SIZE));
}

void quantize_add(struct quantize *q, const struct ipcsnoop_event *e)
{
	struct quantize_key key = {.kind = e->kind, .writes = e->writes}, pair = {};
	struct quantize_row *row;
	bool full;

	if (e->unfinished) {
		q->unfinished++;
		return;
	}
	copy_name(key.comm, e->comm);
	row = row_of(q, &key);
	full = !row;
	if (row && e->result >= 0)
		histogram_record(&row->bytes, e->result);
	if (row && e->start_ns)
		histogram_record(&row->ns, e->end_ns - e->start_ns);
	if (*e->waker.comm) {
		copy_name(pair.comm, e->comm);
		copy_name(pair.waker, e->waker.comm);
		full |= !row_of(q, &pair);
	}
	q->beyond += full;
}

static int compare(const void *a, const void *b, void *context)
{
	return memcmp(key_of(context, *(uint32_t *)a), key_of(context, *(uint32_t *)b), sizeof(struct quantize_key));
}

static const char *tpoint_of(const struct quantize_key *key)
{
	return channels_names[key->kind].tpoint[key->writes];
}

static void write_map(struct out *out, const char *map, const struct quantize_key *key)
{
	out_text(out, map);
	out_visible(out, SLICE_ARRAY(key->comm));
	out_text(out, ", ");
	if (*key->waker)
		out_visible(out, SLICE_ARRAY(key->waker));
	else
		out_text(out, tpoint_of(key));
	out_text(out, "]:");
}

void quantize_text(struct out *out, const struct quantize *q)
{
	uint32_t *rows = intern_sort(&q->keys, compare, q);

	for (uint32_t i = 0; i < q->n; i++) {
		const struct quantize_row *row = &q->rows[rows[i]];
		const struct quantize_key *key = key_of(q, rows[i]);

		if (row->bytes.count) {
			write_map(out, "@bytes[", key);
			out_char(out, '\n');
			histogram_powers(out, &row->bytes, "bytes");
		}
		if (row->ns.count) {
			write_map(out, "@nsecs[", key);
			out_char(out, '\n');
			histogram_powers(out, &row->ns, "nsecs");
		}
	}
	for (uint32_t i = 0; i < q->n; i++) {
		const struct quantize_key *key = key_of(q, rows[i]);

		if (!*key->waker)
			continue;
		write_map(out, "@woken[", key);
		out_printf(out, " %" PRIu64 "\n", q->rows[rows[i]].count);
	}
	free(rows);
}

static void write_histogram(struct out *out, const char *key, const struct histogram *h)
{
	if (!h->count)
		return;
	out_text(out, key);
	histogram_powers_json(out, h);
}

void quantize_json(struct out *out, const struct quantize *q, const char *more)
{
	uint32_t *rows = intern_sort(&q->keys, compare, q);

	for (uint32_t i = 0; i < q->n; i++) {
		const struct quantize_row *row = &q->rows[rows[i]];
		const struct quantize_key *key = key_of(q, rows[i]);

		out_text(out, "{\"comm\":");
		out_json(out, SLICE_ARRAY(key->comm));
		if (*key->waker) {
			out_text(out, ",\"waker_comm\":");
			out_json(out, SLICE_ARRAY(key->waker));
		} else {
			out_printf(out, ",\"channel\":\"%s\"", tpoint_of(key));
		}
		out_printf(out, ",\"count\":%" PRIu64, row->count);
		write_histogram(out, ",\"bytes\":", &row->bytes);
		write_histogram(out, ",\"nsecs\":", &row->ns);
		out_text(out, more);
		out_text(out, "}\n");
	}
	free(rows);
}

void quantize_clear(struct quantize *q)
{
	for (uint32_t i = 0; i < q->n; i++) {
		histogram_clear(&q->rows[i].bytes);
		histogram_clear(&q->rows[i].ns);
	}
	free(q->rows);
	intern_free(&q->keys);
	*q = (struct quantize){.beyond = q->beyond, .unfinished = q->unfinished};
}
