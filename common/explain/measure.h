/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up a trace: compares its requests, divides their times among causes, and counts what they have in common. */
#pragma once

#include "compare.h"
#include "tally.h"

struct measure_options {
	struct compare_options compare;
	bool open;         /* requests in flight as well */
	bool group;        /* each group of -g by itself */
	size_t max_groups; /* at most this many: those with most time */
};

/* t is empty; its names are those of the requests. */
void measure_trace(struct tally *t, struct requests *requests, const struct measure_options *options);

/* Adds up the lives of all requests, finished or not, as rows of TALLY_LEDGER only. */
void measure_ledger(struct tally *t, struct requests *requests);
