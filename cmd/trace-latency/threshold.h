/* SPDX-License-Identifier: BSD-3-Clause */
/* The threshold of --fail-over: by how much a percentile may be larger than in an earlier run. */
#pragma once

#include "rows.h"

struct threshold {
	unsigned percentile; /* in thousandths of a percent; 0: there is no threshold */
	uint64_t percent;    /* by which it may be larger, in thousandths of a percent */
};

/* Parses PERCENTILE:PERCENT, such as p99:10 or p99.9:2.5. False when it is not of this form. */
bool threshold_parse(const char *text, struct threshold *threshold);

/*
 * Whether the groups of both have the same keys, as far as their first rows show; true if one has no rows. If not,
 * says so on stderr.
 */
bool threshold_applies(const struct rows *rows, const struct rows *base, const char *base_name);

/*
 * Reports on stderr each row whose percentile exceeds that of the base by more than the threshold, and each row with
 * too few samples in either run: a percentile needs 10 values above it. Says so if no row could be judged.
 */
enum threshold_verdict {
	THRESHOLD_KEPT,
	THRESHOLD_EXCEEDED, /* by one or more rows */
	THRESHOLD_UNKNOWN,  /* no row could be judged */
} threshold_report(const struct threshold *threshold, const struct rows *rows, const struct rows *base,
		   const char *base_name);
