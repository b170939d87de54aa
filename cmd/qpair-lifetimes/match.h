/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which owner record of a trace belongs to which qpair of NVMe-oF TCP.
 *
 * A poll group registers a connection's owner and then adds its qpair to itself, in one call on one thread
 * (spdk_nvmf_poll_group_add(), from v24.05 on). So on each thread registrations and additions take turns, and a
 * qpair's owner is the last one that its thread registered before it added the qpair. But the records do not name
 * the thread, what other threads registered gets in between, and probe lines may be lost. Hence:
 *
 *  1. Candidates of a qpair are the owners that were registered before it was added and not before the last addition
 *     by its thread that was recorded, nor too long ago, unless there are none then; of the same subsystem, where both
 *     are known, and with the same qid, where the description has one.
 *  2. A qpair that has one candidate gets it, and it is no other's. That is repeated until nothing changes.
 *  3. Where the qpairs that have their owners by then show each thread on one lcore and each lcore with one thread,
 *     the lcore of an owner's own entries tells its thread. Then candidates are of the right thread or an unknown
 *     one, and none is older than the last one of the right thread. Then 2. again.
 *  4. What still has several candidates gets none; so does a qpair whose probe lines may be those of two.
 *
 * So a lost addition leaves an owner too many among the candidates of the next additions, which get none unless 3.
 * decides; no candidate is ever passed on from one to the next. Two things could make it wrong, and are looked at:
 *
 *  - Owners that are not in the table any more, where it was read once. Ids are given out in order, and again in the
 *    order in which they are freed. So nothing is missing until all have been given out once, and from then on not in
 *    the newer half of the records, unless more than half of the ids are in use at a time. Where owners were followed,
 *    that is about the table with which it began: those that came later are all there.
 *  - Qpairs that have no owner, of other transports. They show where a thread registered nothing before it added a
 *    qpair, or so long before that it was preempted meanwhile or the owner is another thread's. Then 2. needs an owner to be the candidate of one qpair only, and nothing is named when lines were lost.
 *    When there are not more qpairs than owners to explain it, 1. is not true for this target: then candidates are
 *    all owners that were not registered much too early.
 */
#ifndef QPAIR_LIFETIMES_MATCH_H
#define QPAIR_LIFETIMES_MATCH_H

#include "owners.h"

/* A qpair whose owner is looked for. */
struct match_qpair {
	uint64_t begin, end; /* ticks; end is UINT64_MAX when it is not known */
	uint64_t thread;
	bool connected; /* these are known */
	uint64_t connect, qid;
	struct slice subnqn;

	/* found by match_owners() */
	const struct owner *owner; /* NULL: none */
	bool ambiguous;            /* several are as likely */
	bool doubtful;             /* the lines of the qpair may be those of two */
	uint64_t from;             /* ticks from which on candidates were registered */
};

/*
 * Finds the owners of these qpairs, which are in the order of begin. lost: probe lines are known to be missing.
 * Costs a pass over each qpair's candidates for every round of rule 2, of which two or three are usual.
 */
void match_owners(const struct owners *o, struct match_qpair *qpairs, size_t n, bool lost);

#endif
