/* SPDX-License-Identifier: BSD-3-Clause */
/* What slow requests have in common, and others have not, as far as chance does not explain it. */
#ifndef TRACE_CAUSES_TRAITS_H
#define TRACE_CAUSES_TRAITS_H

#include "compare.h"

struct trait_value {
	enum trait trait;
	uint64_t value;
	uint64_t slow, others; /* requests that have it */
	uint64_t all;          /* a hash of these requests: equal ones select the same */
};

struct traits {
	struct trait_value *all; /* the largest difference of shares first; equal selections follow each other */
	size_t n, cap;
	uint64_t slow, others; /* all requests */
};

extern const char *const traits_names[TRAITS];

/* bursts: groups of slow requests that overlap in time; what hits several at once counts once against chance. */
void traits_find(struct traits *t, const struct compare *c, enum compare_set set, uint64_t bursts);

void traits_free(struct traits *t);

#endif
