/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lifetimes while they last: a line when a qpair is added, when its names come, when its owner is found, and when it
 * is removed. Each line has all that is known, and replaces the one before it.
 *
 * What was printed is not taken back, since it may have named entries already. So where lines were lost, this differs
 * from what qpair-lifetimes.c makes of a whole file: a qpair of which the removal is missing ends where the next one
 * shows at its address, and keeps its names until then.
 *
 * An owner line comes before its qpair is added, and again with a longer description when the host has connected. The
 * qpair then gets its owner, from what match_owners() makes of the recent ones. Nothing is missing but what will
 * happen: one that has several candidates may get its owner later.
 */
#ifndef QPAIR_LIFETIMES_FOLLOW_H
#define QPAIR_LIFETIMES_FOLLOW_H

#include "event.h"
#include "map.h"
#include "owners.h"

/* Owners are looked for among the qpairs that were added last, as many as this. */
enum { FOLLOW_RECENT = 4096 };

struct follow {
	/* the recent ones and those that live, in the order in which they came */
	struct follow_qpair **all;
	size_t n, max;                 /* when to forget the others */
	struct follow_qpair **changed; /* are to be printed */
	size_t num_changed;
	struct map addresses; /* address → index in living */
	struct follow_qpair **living;
	size_t num_living, max_living;

	struct follow_owner **owners; /* by id; NULL: no owner line has come */
	struct follow_owner **old;    /* the last of those whose number is another one's now */
	size_t num_old;
	bool due; /* owners are to be looked for */
	uint64_t came,
		matched;  /* when the last line came, and they were looked for; milliseconds */
	size_t unmatched; /* qpairs that were added since */

	/* what is to be said at the end */
	uint64_t last_orphan;  /* ticks */
	size_t adds, orphans;  /* qpairs that were added; connects of other ones */
	size_t named, unowned; /* qpairs with an owner; with names, but without owner */
};

/* Takes over an event. Those that come together are to be in the order of time. */
void follow_event(struct follow *f, struct event *e);

/* Takes over an owner and its description, or a later description. */
void follow_owner(struct follow *f, const struct owner *owner);

/*
 * To be called when there are no more lines now, and when the time that it returned is over: looks for owners, and
 * prints the lifetimes that have changed. Returns in how many milliseconds there is more to do; -1: when there are more
 * lines. last: there will be none.
 */
int follow_pause(struct follow *f, struct out *out, bool last);

/* Counts what has got no owner, too. */
void follow_free(struct follow *f);

#endif
