/* SPDX-License-Identifier: BSD-3-Clause */
/* The causes that a tally proves, the most important first. */
#pragma once

#include "tally.h"

/* What rows of a fact and its subject have in common. */
struct findings_cause {
	enum fact fact;
	uint32_t subject;                  /* whom or what it belongs to, in names; MAP_NONE: not known */
	uint32_t victim;                   /* the connection that has most of it */
	bool of_several;                   /* the subject has most of it, but less than half */
	uint64_t requests, n;              /* that have it; for a quarter of their life */
	uint64_t longest;                  /* ns, of a request */
	unsigned __int128 ns, proven, own; /* own: of ns, what the subject does to itself */
	const struct request *example;     /* that request */
};

struct finding {
	enum slow slow;
	struct findings_cause cause;
	double ns;       /* more than that of comparable requests, of all slow ones */
	double share;    /* of what all slow ones of the set have more */
	uint64_t bursts; /* groups of requests with this fact, whoever had it, that overlap in time */
};

struct findings {
	/* the caller's: what a cause takes at least of a request that has it; budget_ns: a bdev, a leg or a drive */
	uint64_t least_ns, budget_ns;
	const struct tally *tally;
	const struct tally_group *group;
	struct finding *all;
	size_t n, cap;
};

/* f is all zero, except for these two. The tally must outlive f, and stay as it is. */
void findings_find(struct findings *f, const struct tally *t, const struct tally_group *group);

static inline enum fact findings_cause(const struct finding *finding)
{
	return finding->cause.fact;
}

/* The set that the page is about: that of the first finding, else the one that is slowest. */
enum slow findings_main(const struct findings *f);

/* What may be as it should counts a tenth, so that a finding with less time may come before it. */
enum findings_doubt {
	DOUBT_NONE,
	DOUBT_ONCE,  /* many requests were hit in one moment only, which may be chance */
	DOUBT_OWN,   /* what a host does to itself explains less than what others do to it */
	DOUBT_MEANT, /* a device that always takes long may be meant to */
	DOUBTS
};

enum findings_doubt findings_doubt(const struct finding *f);

void findings_free(struct findings *f);
