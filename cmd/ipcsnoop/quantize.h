/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes of an interval, by thread name and tracepoint: histograms of their bytes and times. */
#ifndef IPCSNOOP_QUANTIZE_H
#define IPCSNOOP_QUANTIZE_H

#include <stddef.h>
#include <stdint.h>

#include "histogram.h"
#include "intern.h"
#include "out.h"
#include "bpf/ipcsnoop.h"

/* All zero is empty. */
struct quantize {
	struct intern keys; /* each is the bytes of a struct quantize_key, of calls or of a sleeper and its waker */
	struct quantize_row {
		uint64_t count; /* of calls, or of sleeps that the waker ended */
		struct histogram bytes,
			ns; /* of calls: of those that did not fail, and of those whose start is known */
	} * rows;           /* by the number of their key */
	uint32_t n;
	size_t cap;
	uint64_t beyond;     /* of all intervals: calls left out, because there were too many rows */
	uint64_t unfinished; /* calls that had not ended: they are in no row */
};

void quantize_add(struct quantize *q, const struct ipcsnoop_event *e);

/* Writes @bytes, @nsecs and @woken, as bpftrace names maps. */
void quantize_text(struct out *out, const struct quantize *q);

/* A line for each row. more: members of each, after a comma. */
void quantize_json(struct out *out, const struct quantize *q, const char *more);

/* Removes all rows, for the next interval. */
void quantize_clear(struct quantize *q);

#endif
