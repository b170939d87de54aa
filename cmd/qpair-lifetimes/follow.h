/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints lifetimes while they last: a line when a qpair is added, when its names come, when its
 * owner is found, and when it is removed. Each line has all that is known so far, and replaces the
 * one before it.
 *
 * Printed lines are not corrected later, because they may have named entries already. So when probe
 * lines were lost, the result differs from that of a whole file: a qpair whose removal is missing
 * ends when the next one appears at its address, and has its names until then.
 *
 * An owner line comes before its qpair is added, and again with a longer description when the host
 * has connected. Then match_owners() finds the qpair's owner among the recent ones; if there are
 * several candidates, it may find it later.
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
	size_t n, cap, max;            /* max: the others are dropped when n is larger */
	struct follow_qpair **changed; /* to be printed */
	size_t num_changed, cap_changed;
	struct map addresses; /* address → index in living */
	struct follow_qpair **living;
	size_t num_living, cap_living, max_living;

	struct follow_owner **owners; /* by id; NULL: no owner line has come */
	struct follow_owner **old;    /* the latest of those whose number was reused */
	size_t num_old;
	bool due;         /* it is time to match owners and qpairs */
	uint64_t came;    /* milliseconds: when the last line came */
	uint64_t matched; /* milliseconds: when owners were matched */
	size_t unmatched; /* qpairs that were added since */

	/* for notes at the end */
	uint64_t last_without_add; /* ticks */
	size_t adds, without_add;  /* qpairs that were added; connects of qpairs that were not */
	size_t named, unowned;     /* qpairs with an owner; with names, but without an owner */
};

/* Adds an event; owns its names from then on. The events of one batch must be in the order of time. */
void follow_event(struct follow_qpairs *f, struct qpair_event *e);

/* Adds an owner, or a later description of it; owns the description from then on. */
void follow_owner(struct follow_qpairs *f, const struct owner *owner);

/*
 * Matches owners, and prints the lifetimes that have changed. To be called when there are no more
 * lines for now, and again after the milliseconds that it returns; -1: not before there are more
 * lines. last: no more lines will come.
 */
int follow_pause(struct follow_qpairs *f, struct out *out, bool last);

/* Also completes the count in f->unowned. */
void follow_free(struct follow_qpairs *f);

#endif
