/* SPDX-License-Identifier: BSD-3-Clause */
/* What each thread did with its time: the table at the end. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "out.h"
#include "bpf/offcpusnoop.h"

enum { TOTALS_MAX = 4096 }; /* threads with a row of their own; all others share one */

/* All zero is empty. */
struct totals {
	struct offcpusnoop_totals *all;
	size_t n, cap;
	struct offcpusnoop_totals others; /* their sums; end_ns is the sum of the times in which they were recorded */
	uint64_t num_others;
};

void totals_add(struct totals *t, const struct offcpusnoop_totals *thread);

/* Prints a row for each thread, sorted by id: seconds, and the share of each kind of time. */
void totals_print(struct totals *t, struct out *out);

void totals_free(struct totals *t);
