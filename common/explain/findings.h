/* SPDX-License-Identifier: BSD-3-Clause */
/* The causes that a tally proves, the most important first. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "tally.h"

struct finding {
	enum slow slow;
	const struct tally_cause *cause; /* if it is of_several, of the one with most of it */
	bool of_several;                 /* none of those who have it has half of it */
	uint32_t victim;                 /* the connection that has most of it, in names */
	double ns;                       /* more than that of comparable requests, of all slow ones */
	double share;                    /* of what all slow ones of the set have more */
};

/* What a round trip on a local network takes: of less, no host notices much. */
enum { FINDINGS_LEAST_NS = 20 * 1000 };

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
	return finding->cause->key.what;
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

#endif
