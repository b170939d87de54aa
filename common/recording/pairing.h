/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes qpairs of the events of their probes, finds their owners, and prints their lifetimes.
 *
 * A file is a stream that ends: all its lifetimes are printed at the end, when everything is known of
 * them. A lifetime lasts until the first removal at its address, and has the names of the last connect
 * before that. So if a removal is missing, lifetimes overlap, and end together.
 *
 * With follow a line is printed when a qpair is added, when its names come, when its owner is found,
 * and when it is removed. Each line has all that is known so far, and replaces the one before it.
 * Printed lines are not corrected later, because they may have named entries already. So a qpair whose
 * removal is missing ends when the next one appears at its address, and has its names until then.
 *
 * An owner line comes before its qpair is added, and again with a longer description when the host
 * has connected. Then match_owners() finds the qpair's owner among the recent ones; if there are
 * several candidates, it may find it later.
 */
#pragma once

#include "answers.h"
#include "events.h"
#include "map.h"
#include "registry.h"

/* Why qpairs have no owner. */
enum pairing_reason {
	PAIRING_AMBIGUOUS,
	PAIRING_INCOMPLETE,
	PAIRING_UNRELIABLE,
	PAIRING_REPLACED,
	PAIRING_UNREGISTERED,
	PAIRING_REASONS
};

/* All zero, except follow, has no qpairs. */
struct pairing {
	bool follow;
	struct owners owners;    /* the caller adds their lines */
	struct answers *answers; /* that name connections that no probe names; NULL: none; without follow only */

	/* in the order in which they came; with follow the recent ones and those that live */
	struct qpair **all;
	size_t n, cap;
	size_t max;             /* of these and the owners, before some are dropped */
	struct qpair **changed; /* to be printed */
	size_t num_changed, cap_changed;
	struct map addresses; /* address → index in places */
	struct pairing_place *places;
	size_t num_places, cap_places, max_places;

	bool due;         /* it is time to match owners and qpairs */
	uint64_t came;    /* milliseconds: when the last line came */
	uint64_t matched; /* milliseconds: when owners were matched */
	size_t unmatched; /* qpairs that were added since */

	/* for notes at the end */
	uint64_t last_without_add;       /* ticks */
	size_t adds, without_add;        /* qpairs that were added; connects of qpairs that were not */
	size_t without[PAIRING_REASONS]; /* in a file: qpairs without an owner that may have one */
	size_t named, unowned;           /* with follow: qpairs with an owner; with names, but without an owner */
};

/* Adds all events, in the order of time, and empties them. Notes when the last lines of owners came. */
void pairing_add(struct pairing *p, struct events *events);

/*
 * Matches owners, and prints the lifetimes that have changed. To be called when there are no more
 * lines for now, and again after the milliseconds that it returns; -1: not before there are more
 * lines. last: no more lines will come; without follow it is called only then.
 */
int pairing_pause(struct pairing *p, struct out *out, bool last);

void pairing_free(struct pairing *p);
