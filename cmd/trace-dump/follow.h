/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns the entries of a live trace as they are written, in the order of their ticks.
 *
 * The rings are read in rounds: rings.h. An entry is ready when every lcore has reached its ticks, because all later
 * entries have higher ticks. An lcore that writes nothing would delay the others forever, so an entry that has waited
 * for the lag is ready as well, with all before it. When a ring has no room for new entries, the older half of it
 * becomes ready.
 *
 * An entry is returned after one with higher ticks only if its lcore gave it ticks of the past, or
 * published it more than the lag after its ticks, or if another ring had no room in between.
 */
#ifndef TRACE_DUMP_FOLLOW_H
#define TRACE_DUMP_FOLLOW_H

#include <sys/types.h>

#include "merge.h"
#include "rings.h"

struct input;
struct trace;

enum { FOLLOW_SAMPLES = 32 };

struct follow {
	struct trace *trace;
	struct input *in;
	struct merge *merge;
	struct rings rings;
	uint64_t lag;        /* nanoseconds */
	uint64_t *newest_of; /* by lcore: highest ticks that were read */
	bool *is_after_loss; /* by lcore: its next entry comes after lost slots */
	uint64_t ready;      /* entries up to these ticks can be returned */
	uint64_t wanted;     /* ticks that have to be ready for all rings to have room */
	uint64_t unread;     /* the lowest newest_of of the rings without room */
	uint64_t newest;     /* highest ticks of all entries that were read */
	struct follow_sample {
		uint64_t time, newest; /* nanoseconds; ticks at that time */
	} samples[FOLLOW_SAMPLES];
	unsigned next_sample;
	uint64_t round;        /* from 1 on */
	uint64_t *owner_round; /* by owner: the round in which its record was read last */
	uint8_t *record;       /* of an owner, as it is now */
};

/*
 * Starts after the entries of t, which was opened on an updated snapshot of in. merge is only used when entries are
 * read. t, in and merge stay the caller's, and must outlive f, which must not move. The rest is as in rings_open().
 */
void follow_open(struct follow *f, struct trace *t, struct input *in, struct merge *merge, pid_t pid, uint64_t lag_ms);

/* The next entry that is ready. False when there is none now. */
bool follow_next(struct follow *f, unsigned *lcore, uint64_t *slot);

/* Reads an owner's record again, at most once a round. Returns whether it has changed. */
bool follow_refresh_owner(struct follow *f, unsigned id);

/*
 * Reads a round. last: no more is wanted. Then, or when rings_have_ended(), all entries that were read become ready.
 * Returns whether it must be called again: after such a round only if a ring had no room for all entries.
 */
bool follow_read(struct follow *f, bool last);

void follow_close(struct follow *f);

#endif
