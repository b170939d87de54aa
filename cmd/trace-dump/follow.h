/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns the entries of a live trace as they are written, in the order of their ticks.
 *
 * The rings are read in rounds: rings.h. An entry is ready when every lcore has reached its ticks, because all later
 * entries have higher ticks. An lcore that writes nothing would delay the others forever, so an entry that has waited
 * for FOLLOW_LAG_MS is ready as well, with all before it. When a ring has no room for new entries, the older half of it
 * becomes ready.
 *
 * An entry is returned after one with higher ticks only if its lcore gave it ticks of the past, or
 * published it more than this after its ticks, or if another ring had no room in between.
 */
#pragma once

#include <sys/types.h>

#include "rings.h"

struct entry;
struct reader;

enum { FOLLOW_SAMPLES = 32, FOLLOW_LAG_MS = 100 };

struct follow {
	struct reader *reader;
	struct trace *trace; /* the reader's, as are the next two */
	struct input *in;
	struct merge *merge;
	struct rings rings;
	bool waiting;        /* the next round has to be read */
	bool stopped;        /* by follow_stop() */
	bool ended;          /* the last round has been read */
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
 * Starts after the entries of r, which was opened on a snapshot. r must outlive f, which must not move. The rest is as
 * in rings_open().
 */
void follow_open(struct follow *f, struct reader *r, pid_t pid);

/*
 * The next entry, as from reader_next(). FOLLOW_WAIT: no entry now; try again after rings_wait().
 */
enum follow_result { FOLLOW_END, FOLLOW_ENTRY, FOLLOW_WAIT };
enum follow_result follow_next(struct follow *f, struct entry *e);

/* No more is wanted: what the rings hold now is still read. */
void follow_stop(struct follow *f);

void follow_close(struct follow *f);
