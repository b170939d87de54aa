/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lifetimes while they last: a line when a qpair is added, when its names come, when its owner is
 * found, and when it is removed. Each line has all that is known, and replaces the one before it.
 *
 * What was printed stays, as it may have named entries already. So when lines were lost, the result
 * differs from that of a whole file: a qpair whose removal is missing ends where the next one
 * appears at its address, and keeps its names until then.
 *
 * An owner line comes before its qpair is added, and again with a longer description when the host
 * has connected. Then match_owners() finds the qpair's owner among the recent ones; when there are
 * several candidates, maybe later.
 */
#ifndef QPAIR_LIFETIMES_FOLLOW_H
#define QPAIR_LIFETIMES_FOLLOW_H

#include "qpair.h"
#include "map.h"
#include "owners.h"

/* How many of the qpairs that were added last may get owners. */
enum { FOLLOW_RECENT = 4096 };

struct follow_qpairs {
	/* the recent ones and those that live, in the order in which they came */
	struct follow_qpair **all;
	size_t n, cap, max;            /* max: when to drop the others */
	struct follow_qpair **changed; /* to be printed */
	size_t num_changed, cap_changed;
	struct map addresses; /* address → index in living */
	struct follow_qpair **living;
	size_t num_living, cap_living, max_living;

	struct follow_owner **owners; /* by id; NULL: no owner line has come */
	struct follow_owner **old;    /* the last of those whose number another one has now */
	size_t num_old;
	bool due;         /* it is time to match owners and qpairs */
	uint64_t came;    /* milliseconds: when the last line came */
	uint64_t matched; /* milliseconds: when owners were matched */
	size_t unmatched; /* qpairs that were added since */

	/* for notes at the end */
	uint64_t last_no_begin; /* ticks */
	size_t adds, no_begin;  /* qpairs that were added; connects of other ones */
	size_t named, unowned;  /* qpairs with an owner; with names, but without owner */
};

/* Adds an event, and owns its names. Events that come together are in the order of time. */
void follow_event(struct follow_qpairs *f, struct qpair_event *e);

/* Adds an owner, or a later description of it; owns the description from then on. */
void follow_owner(struct follow_qpairs *f, const struct owner *owner);

/*
 * Matches owners, and prints the lifetimes that have changed. To be called when there are no more
 * lines for now, and again after the milliseconds that it returns; -1: when there are more lines.
 * last: there will be none.
 */
int follow_pause(struct follow_qpairs *f, struct out *out, bool last);

/* Counts what has no owner as well. */
void follow_free(struct follow_qpairs *f);

#endif
