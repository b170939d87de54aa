/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds causes of waits in what objects do over time, with what proves each of them: I/O that was passed on without any
 * I/O below it, rate limits of bdevs, full queues of connections, copies for first writes to clusters, and retries on
 * paths of NVMe bdevs.
 */
#pragma once

#include "fact.h"
#include "pace.h"
#include "spans.h"

struct spanline;

struct proofs_span {
	uint32_t bdev; /* in bdevs; MAP_NONE: no rate limit applies to it */
	bool went;     /* a bdev I/O that has been passed on, or has ended */
	/* ns for which a bdev I/O waited for a rate limit, and the limit; 0: none */
	uint64_t limited;
	double rate;
	bool of_blocks;
	/* of a bdev I/O: the set that waits for a cluster, and the ns since which another allocates it, or 0 */
	struct store_ref waiting;
	uint64_t allocates_since;
	uint64_t copy, copied; /* ns for which it waited for clusters, and the blocks of the latest copy */
	/* of a set that allocates a cluster: the bdev I/O for which it does, and blocks that it has copied */
	struct store_ref allocates_for;
	uint64_t blocks;
};

/* All zero at first, except for these. */
struct proofs {
	const struct spans *spans;

	struct proofs_span *all; /* by index of the span */
	size_t n, cap;
	struct map bdevs; /* source and name */
	struct intern names;
	struct proofs_bdev {
		struct pace all, reads, writes; /* a limit applies to one of these */
		/* I/Os of the bdev that ended, and those among them that had others below them */
		uint64_t ended, passed;
	} * of_bdevs;
	size_t num_bdevs, cap_bdevs;
	struct proofs_lcore {
		struct store_ref waiting; /* the set that its latest entry started, below a bdev I/O */
		/* ns: the latest allocation, if the entries since its end have started objects only */
		bool resumes;
		uint64_t first, last, blocks;
	} * of_lcores;
	size_t num_lcores, cap_lcores;
	struct proofs_queue {
		uint64_t most;         /* commands in flight */
		uint64_t starts, full; /* since there were so many at once; those that made it full again */
	} * queues;                    /* by connection */
	size_t num_queues, cap_queues;
	bool has_sets; /* of blobstores */
};

/* Sees an entry of a span, whose connection is set; before: as for spans.entry. */
void proofs_see(struct proofs *p, const struct span *s, uint32_t before);

/*
 * Sets the facts of fact_proven, retries and full_queue by a span and those below it; each 0 if nothing is known, and
 * no part is longer than the life.
 */
void proofs_measure(const struct proofs *p, const struct span *s, struct spanline *line);

/* proofs_see() was called for it. */
static inline struct proofs_span *proofs_of(const struct proofs *p, const struct span *s)
{
	return &p->all[s->index];
}

/* Of a bdev I/O, the first child; of another object, the first child that is a bdev I/O. NULL: none. */
const struct span *proofs_first_below(const struct proofs *p, const struct span *s);

/* Whether an open bdev I/O waits for a rate limit. Sets that limit. */
bool proofs_waits_for_limit(const struct proofs *p, const struct span *s, double *rate, bool *of_blocks);

/* ns for which a span that was passed on had nothing below it. */
uint64_t proofs_no_io(const struct proofs *p, const struct span *s);

struct proofs_retries {
	uint64_t n, ns;            /* ns: from its start to the latest retry, or to the end if that has no path */
	const struct span *latest; /* NULL: none */
};

/* How often a bdev I/O was tried again because a path failed: up to this I/O of an NVMe bdev below it; NULL: so far. */
struct proofs_retries proofs_retries(const struct proofs *p, const struct span *s, const struct span *end);

/* The size of the queue that a request filled, or 0. */
uint64_t proofs_queue(const struct proofs *p, const struct span *s);

void proofs_free(struct proofs *p);
