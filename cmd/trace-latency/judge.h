/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a run is worse than an earlier one, for --fail-over. */
#ifndef TRACE_LATENCY_JUDGE_H
#define TRACE_LATENCY_JUDGE_H

#include "rows.h"

struct limit {
	unsigned percentile; /* in thousandths of a percent */
	uint64_t percent;    /* by which it may be larger, in thousandths of a percent */
};

/* Reads PERCENTILE:PERCENT, such as p99:10 or p99.9:2.5. False when it is not of this form. */
bool limit_parse(const char *text, struct limit *limit);

/*
 * Names on stderr the rows whose percentile is larger than the base's by more than the limit, and those that
 * have too few values, here or there, to tell: a percentile needs 10 values above it. Returns the number of
 * rows that are worse.
 */
uint32_t limit_judge(const struct limit *limit, const struct rows *rows, const struct rows *base,
		     const char *base_name);

#endif
