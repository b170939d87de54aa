/* SPDX-License-Identifier: BSD-3-Clause */
/* Why slow requests are slow: where their extra time is, and the causes that are proven, the most important first. */
#ifndef TRACE_CAUSES_FINDINGS_H
#define TRACE_CAUSES_FINDINGS_H

#include "blame.h"
#include "compare.h"

struct finding {
	enum compare_set set;
	enum cause cause;
	uint32_t who;     /* as in struct blame_part */
	uint32_t victim;  /* the connection that has most of it, in names */
	double ns;        /* more than that of comparable requests, of all slow ones */
	double share;     /* of what all slow ones of the set have more */
	uint64_t n;       /* requests that have it mostly */
	uint64_t bursts;  /* groups of them that overlap in time */
	uint32_t example; /* the request that has most */
};

/* The extra time of a set: sums of ns, of which those of the layers are exact. */
struct findings_extra {
	uint64_t slow, fast, others; /* requests; others: all that are not in the set */
	uint64_t bursts;             /* groups of slow ones that overlap in time */
	unsigned __int128 slow_ns, fast_ns;
	__int128 layers[LAYERS];
	__int128 off_cpu, irq, disk;
};

struct findings {
	struct finding *all;
	size_t n, cap;
	struct findings_extra extra[SETS];
};

void findings_find(struct findings *f, struct blame *b, const struct compare *c);

/* Whether a cause hits many requests in one moment, so that one moment may be chance. */
bool findings_is_momentary(enum cause cause);

void findings_free(struct findings *f);

#endif
