/* SPDX-License-Identifier: BSD-3-Clause */
/* What slow requests have in common, and others have not, as far as chance does not explain it. */
#pragma once

#include "compare.h"

enum trait {
	TRAIT_HOST,
	TRAIT_CONNECTION,
	TRAIT_BDEV,
	TRAIT_LEG,
	TRAIT_LCORE,
	TRAIT_TYPE,
	TRAIT_SIZE,
	TRAIT_STATUS,
	TRAIT_REGION,
	TRAIT_DEPTH,
	TRAIT_OFF_CPU, /* the process or call that held the reactor longest, for a tenth of its life or more */
	TRAIT_IRQ,     /* the interrupt, likewise */
	TRAIT_FULL,    /* the host, if its queue was full */
	TRAITS
};

/* A value: a name, a number, or both. */
struct trait_value {
	uint32_t name; /* MAP_NONE: none */
	uint64_t number;
};

struct traits {
	uint64_t slow, others; /* requests */
	uint64_t bursts;       /* groups of slow ones that overlap in time */
	/* the largest difference of shares first; values that select the same requests follow each other */
	struct traits_value {
		enum trait trait;
		struct trait_value value;
		uint64_t slow, others; /* requests that have it */
		uint64_t hash;         /* of these: equal ones select the same */
	} * all;
	size_t n, cap;
	/* the time that has most slow requests compared with others, ns; if it is more than chance */
	bool has_window;
	struct traits_window {
		uint64_t begin, end, slow, others, bursts;
	} window;
};

/* t is all zero. The slow ones are those of a set; only of a tail is a window looked for. */
void traits_find(struct traits *t, const struct compare *c, enum compare_set set);

void traits_free(struct traits *t);
