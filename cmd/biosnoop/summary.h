/* SPDX-License-Identifier: BSD-3-Clause */
/* biosnoop's summary: requests by disk, process and type, with histograms of their latencies. */
#pragma once

#include "livelines.h"
#include "histogram.h"
#include "intern.h"
#include "bpf/biosnoop.h"

/* All zero is an empty summary. */
struct summary {
	struct intern keys; /* each is the bytes of a struct summary_key */
	struct summary_row {
		uint64_t count, bytes, errors;
		struct histogram latency; /* of requests with a known latency */
	} * rows;                         /* by the number of their key */
	uint32_t n;
	size_t cap;
	uint64_t no_latency;
	uint64_t beyond; /* requests left out: there were too many rows */
};

void summary_add(struct summary *s, const struct biosnoop_event *e);

/* Prints a line for each row, those with the most time first. c: without a stamp. */
void summary_print(struct livelines *c, const struct summary *s);

void summary_free(struct summary *s);
