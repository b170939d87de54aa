/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hands out the entries of a live trace as they come, in the order of their ticks.
 *
 * The rings are read in rounds, from next_entry to next_entry, into the snapshot that the trace was opened on. An
 * entry is ready when every lcore has got to its ticks: what they write from then on is later. An lcore that
 * writes nothing would hold the others back for ever; so an entry that has been there for the lag is ready, too,
 * with all that come before it. When so many wait that a ring has no room for new ones, the older half of them goes.
 *
 * Nothing is handed out behind a later entry, unless an lcore published it more than the lag after its ticks, or
 * gave it ticks of the past.
 */
#ifndef TRACE_DUMP_FOLLOW_H
#define TRACE_DUMP_FOLLOW_H

#include <sys/types.h>

#include "merge.h"

struct input;
struct trace;

enum { FOLLOW_SAMPLES = 32 };

struct follow {
	struct trace *trace;
	struct input *in;
	struct merge *merge;
	uint64_t lag;     /* nanoseconds */
	int pidfd;        /* of the process that writes, -1: not known */
	unsigned largest; /* slots of an entry, at most */
	struct follow_lcore {
		uint64_t next;   /* slots that were read, counted as next_entry does */
		uint64_t target; /* where next_entry was at the begin of the round */
		uint64_t moved;  /* when it was seen to have moved last, nanoseconds */
		uint64_t newest; /* highest ticks that were read */
	} * lcores;
	uint64_t ready;  /* entries up to these ticks are */
	uint64_t newest; /* highest ticks of all entries that were read */
	struct follow_sample {
		uint64_t time, newest; /* nanoseconds; ticks at that time */
	} samples[FOLLOW_SAMPLES];
	unsigned next_sample;
	unsigned idle;  /* rounds that brought nothing, one after the other */
	bool ended;     /* no more will come */
	bool restarted; /* another process has begun to write the file from its begin */
	uint64_t lost;  /* slots that were overwritten before they were read */
};

/*
 * Begins behind what merge has of the trace, which was opened on a settled snapshot of in. pid: of the process that
 * writes it, 0 when it is not known. merge: NULL when no entries are wanted. Returns -1 when there is no memory. All but f belongs to the caller.
 */
int follow_open(struct follow *f, struct trace *t, struct input *in, struct merge *merge, pid_t pid,
		unsigned lag_ms);

/* The next entry that is ready. False when there is none, now. */
bool follow_next(struct follow *f, unsigned *lcore, uint64_t *slot);

/*
 * Reads what has been written since. last: nothing more is wanted, and all that was read is ready. Returns 1; 0 when
 * it was the last time, because of that or because the process has ended; -1 when there is no memory.
 */
int follow_read(struct follow *f, bool last);

/* Whether the process has ended, or has removed its trace: what was written until then can still be read. */
bool follow_has_ended(const struct follow *f);

/*
 * Waits until it is worth to read again, a few milliseconds at most; a signal ends it. Returns false when nobody
 * reads the output, of this descriptor, any more.
 */
bool follow_wait(const struct follow *f, int out);

/* Waits for ms milliseconds, or until the process ends. Returns as follow_wait() does. */
bool follow_wait_ms(const struct follow *f, int out, int ms);

void follow_close(struct follow *f);

#endif
