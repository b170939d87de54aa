/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests in flight at the end of a trace, grouped by what they wait for. If those that hold all buffers wait for
 * requests of the same target that wait for a buffer, none of them can ever end: a deadlock.
 */
#ifndef INFLIGHT_H
#define INFLIGHT_H

#include "out.h"
#include "requests.h"

enum { INFLIGHT_GROUPS = 64, INFLIGHT_HANGS = 1000000000 /* ns */ };

/* Names are those of the requests; MAP_NONE: not known, or several. Ages are in ns at the end of the recording. */
struct inflight {
	const struct requests *requests;
	struct inflight_group {
		uint32_t host, type, bdev;
		enum layer layer; /* that they are in */
		uint64_t n, oldest;
	} groups[INFLIGHT_GROUPS]; /* the oldest first */
	size_t num_groups;
	uint64_t n, oldest;
	uint64_t ended; /* requests that ended after the oldest of these had started */
	bool is_older;  /* it is far older than any that has ended */
	struct inflight_deadlock {
		uint64_t n; /* that hold the buffers, and as many that they wait for; 0: there is none */
		uint32_t host, type, bdev;
		uint32_t waiting; /* the host of the others */
	} deadlock;
};

/*
 * Finds those of hosts; where no request is of a host, all. end: ns, as the starts of requests, when the recording
 * ended; 0: with its last line.
 */
void inflight_find(struct inflight *f, const struct requests *requests, uint64_t end);

/* Whether they say more than the few requests that ended meanwhile. */
static inline bool inflight_is_most(const struct inflight *f)
{
	return f->is_older && f->ended < f->n;
}

/* Whether some hang, though others may go on. */
static inline bool inflight_hangs(const struct inflight *f)
{
	return f->is_older && (f->ended < f->n || f->oldest >= INFLIGHT_HANGS);
}

/* Writes lines for people: at most max groups. */
void inflight_write(struct out *out, const struct inflight *f, size_t max);

/* Writes the members of a JSON object about the deadlock. */
void inflight_write_json(struct out *out, const struct inflight *f);

#endif
