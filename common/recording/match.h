/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the owner record of each NVMe-oF TCP qpair in a trace.
 *
 * A poll group registers a connection's owner and then adds its qpair to itself, in one call on one
 * thread (spdk_nvmf_poll_group_add(), from v24.05 on). So on each thread registrations and
 * additions alternate, and a qpair's owner is the last one that its thread registered before it
 * added the qpair. But the records do not name the thread, the registrations of several threads are
 * mixed, and probe lines may be lost. For example, with owners t1 to t3:
 *
 *	ticks                10   20   30   40   50   60
 *	owners registered    t1   t2             t3            by a thread that is not known
 *	thread 1 adds                  A              C
 *	thread 2 adds                       B
 *
 * The window of C is from 30, after A, to 60: it gets the one candidate, t3. A and B have two, t1
 * and t2. If t3 has its entries on lcore 0, then thread 1 runs there. If t1 also has its entries
 * there, it is not B's: B gets t2, and A gets t1.
 *
 *  1. Candidates of a qpair are the owners that were registered in its window: before it was added,
 *     but not before the last recorded addition by its thread, and not too long ago unless the
 *     window would then be empty. They have the same subsystem, if both are known, and the same
 *     qid, if the description has one.
 *  2. A qpair with one candidate gets it, and it is no longer a candidate of others. This is
 *     repeated until nothing changes.
 *  3. If the qpairs that have an owner by then show each thread on one lcore, and one thread on
 *     each lcore, then the lcore of an owner's entries identifies its thread. Candidates are now of
 *     the right thread or an unknown one, and none is older than the last one of the right thread.
 *     Rule 2 is repeated.
 *  4. A qpair that still has several candidates gets no owner. Nor does one whose probe lines may be
 *     those of two qpairs.
 *
 * So a lost addition leaves an extra owner among the candidates of the next additions, which get
 * no owner unless rule 3 decides. Two things could make this wrong, and are checked:
 *
 *  - Owners that are missing from a table that was read once. Ids are assigned in ascending order,
 *    and reused in the order in which they become free. So no owner is missing until all ids have
 *    been used once. After that, no owner is missing from the newer half of the records, unless
 *    more than half of the ids are in use at a time. With a recorder that follows owners, this
 *    concerns only the table that it started with.
 *  - Qpairs of other transports, which have no owner. Their sign is a thread that registered nothing
 *    before it added a qpair, or so long before that it was preempted meanwhile or the owner is that
 *    of another thread. Then rule 2 also requires that the owner is a candidate of this qpair only,
 *    and no qpair gets an owner if lines were lost. If there are too few qpairs for this
 *    explanation, rule 1 does not hold for this target: then candidates are all owners that were not
 *    registered much too early.
 */
#pragma once

#include "registry.h"
#include "qpair.h"

/* A qpair to match with its owner. */
struct match_qpair {
	uint64_t begin, end; /* ticks; end is UINT64_MAX when it is not known */
	uint64_t thread;
	bool connected; /* the next three are known */
	uint64_t connect, qid;
	struct slice subnqn; /* the caller frees it */
	bool owned;          /* it has an owner already */

	/* found by match_owners() */
	struct owner *owner; /* NULL: none */
	bool ambiguous;      /* several candidates remain */
	bool unreliable;     /* the lines of the qpair may be those of two */
	uint64_t from;       /* ticks: the start of the window */
};

/* With what is certain of a qpair. */
struct match_qpair match_start(const struct qpair *q);

/*
 * Finds the owners of these qpairs, which are in the order of begin. incomplete: probe lines are
 * known to be missing. Costs a pass over each qpair's candidates for every round of rule 2; two or
 * three rounds are usual.
 */
void match_owners(const struct owners *o, struct match_qpair *qpairs, size_t n, bool incomplete);
