/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests in flight at the end of a trace, grouped by what they wait for, and what most of their time is behind:
 * the head of the queue, or a deadlock.
 */
#pragma once

#include "behind.h"
#include "out.h"
#include "requests.h"

enum { INFLIGHT_GROUPS = 64, INFLIGHT_HANGS = 1000000000 /* ns */ };

/* Names are those of the requests; MAP_NONE: not known, or several. Ages are in ns at the end of the recording. */
struct inflight {
	const struct requests *requests;
	struct inflight_group {
		uint32_t host, type, bdev, behind;
		enum layer layer; /* that they are in */
		uint64_t n, oldest, time;
	} groups[INFLIGHT_GROUPS]; /* the oldest first */
	size_t num_groups;
	uint64_t n, oldest;
	uint64_t longest; /* of those that have ended */
	uint64_t ended;   /* requests that ended after the oldest of these had started */
	bool is_older;    /* it is far older than any that has ended */
	/* the last step of behind.h that the largest part of their time is behind; empty: not known */
	struct slice head;
	/* I/Os of a bdev that started before the trace, which is that long */
	uint64_t unseen, seen;
	struct slice unseen_of;
};

/*
 * Finds those of hosts; where no request is of a host, all. end: ns, as the starts of requests, when the recording
 * ended; 0: with its last line.
 */
void inflight_find(struct inflight *f, const struct requests *requests, uint64_t end);

/* Adds those that started before the trace; b must outlive f. */
void inflight_unseen(struct inflight *f, const struct behind *b);

/* Whether they say more than the few requests that ended meanwhile. */
static inline bool inflight_is_most(const struct inflight *f)
{
	return f->is_older && f->ended < f->n;
}

/* Whether some hang, though others may go on. */
static inline bool inflight_hangs(const struct inflight *f)
{
	return f->unseen || (f->is_older && (f->ended < f->n || f->oldest >= INFLIGHT_HANGS));
}

/* Writes lines for people: at most max groups. note: what else is known of the head. */
void inflight_write(struct out *out, const struct inflight *f, size_t max, struct slice note);

/* Writes the members of a JSON object about those that hang. */
void inflight_write_json(struct out *out, const struct inflight *f);
