/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells a bdev with a rate limit from one that is slow, by the times at which it lets its I/Os go.
 *
 * lib/bdev/bdev.c queues an I/O that is beyond the limit, and bdev_channel_poll_qos() lets as many of the queue go each
 * timeslice as the limit allows. So I/Os go in bursts, at times that are whole timeslices apart, never before them; and
 * all bursts together are as many I/Os, or blocks, as the time since the first one allows, give or take one I/O.
 *
 * An even rate alone proves nothing: that of a drive or a host can be even as well. So two more things have to hold.
 *
 * The bdev chooses: I/Os that were there at a burst are left for a later one, or others that came during it go at once.
 * A poller that gets all completions of a drive once in a while does neither.
 *
 * The times of bursts vary less than the waits of their first I/Os. A bdev that takes a fixed time for each I/O has
 * bursts that drift by the host's response time, or that vary as the I/Os of a host with a timer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* All zero before the first I/O. */
struct pace {
	uint64_t latest;        /* ns: when the latest I/O went */
	uint64_t burst, before; /* ns: start of the current burst, and of the one before it; 0: none */
	bool chose;             /* the current burst shows that the bdev chose */
	bool run;               /* the members below are set: of bursts without a contradiction */
	uint64_t since;         /* ns: the first burst */
	int64_t early, late;    /* ns: bounds of the distances of bursts from their timeslices */
	struct pace_spread {
		double first, sum, squares; /* of the distances from the first value */
	} times, waits;                     /* ns: these distances, and waits of the first I/Os */
	uint64_t slices, bursts;            /* since the first burst */
	uint64_t proofs;                    /* bursts that show that the bdev chose */
	uint64_t largest;                   /* blocks of an I/O */
	struct pace_count {
		uint64_t sum;       /* since the first burst */
		double least, most; /* per timeslice */
	} ios, blocks;
};

/* An I/O goes at ns, in the order of time, that the bdev got at `since`. */
void pace_add(struct pace *p, uint64_t since, uint64_t ns, uint64_t blocks);

/* Whether a limit is proven. Sets what goes in a millisecond; *of_blocks: the number of blocks, not of I/Os. */
bool pace_is_limited(const struct pace *p, double *rate, bool *of_blocks);
