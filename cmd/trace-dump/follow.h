/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns the entries of a live trace as they are written, in the order of their ticks.
 *
 * The rings are read in rounds, from next_entry to next_entry, into the snapshot that the trace was
 * opened on. An entry is ready when every lcore has reached its ticks: what they write from then on
 * is later. An lcore that writes nothing would hold the others back for ever, so an entry that has
 * waited for the lag is ready, too, with all that come before it. When so many wait that a ring has
 * no room for new ones, the older half of them becomes ready.
 *
 * An entry comes after a later one only when its lcore gave it ticks of the past, or published it
 * more than the lag after its ticks, or after its ticks another ring had no room.
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
	pid_t pid;        /* of the process that writes, 0: not known */
	int pidfd;        /* of it; -1: not known, or no descriptor could be had */
	unsigned largest; /* slots of an entry, at most */
	struct follow_lcore {
		uint64_t next;   /* slots that were read, counted as next_entry does */
		uint64_t target; /* where next_entry was when the round started */
		/* slots from unsure to sure may have been being overwritten when they were copied */
		uint64_t unsure, sure;
		uint64_t gap;    /* lost slots before those, not yet counted */
		uint64_t newest; /* highest ticks that were read */
	} * lcores;
	uint64_t ready;  /* entries up to these ticks are */
	uint64_t wanted; /* ticks that have to be ready for all rings to have room */
	uint64_t unread; /* lowest of the highest ticks that were read of rings without room */
	uint64_t newest; /* highest ticks of all entries that were read */
	struct follow_sample {
		uint64_t time, newest; /* nanoseconds; ticks at that time */
	} samples[FOLLOW_SAMPLES];
	unsigned next_sample;
	uint64_t round;        /* from 1 on */
	uint64_t *owner_round; /* by owner: the round in which its record was read last */
	uint8_t *record;       /* of an owner, as it is now */
	unsigned idle;         /* consecutive rounds without entries */
	bool ended;            /* no more will come */
	bool restarted;        /* another process has started to write the file from its beginning */
	uint64_t lost;         /* slots that were overwritten before they were read */
};

/*
 * Starts after what the trace, which was opened on an updated snapshot of in, and merge have; merge
 * is used when entries are read. pid: of the process that writes it, 0 when it is not known. All
 * but f belongs to the caller.
 *
 * From now on the first SIGINT, SIGTERM or SIGHUP ends the following, and the second one the tool.
 * Those that are ignored stay so, as nohup(1) and background jobs of scripts want it.
 */
void follow_open(struct follow *f, struct trace *t, struct input *in, struct merge *merge, pid_t pid, uint64_t lag_ms);

/* The next entry that is ready. False when there is none now. */
bool follow_next(struct follow *f, unsigned *lcore, uint64_t *slot);

/* Reads an owner's record again, once a round. Returns whether it has changed. */
bool follow_refresh_owner(struct follow *f, unsigned id);

/*
 * Reads what has been written since. last: nothing more is wanted, and all that was read becomes
 * ready. Returns whether there may be more: not after the last time, nor when
 * follow_has_ended().
 */
bool follow_read(struct follow *f, bool last);

/*
 * Whether the process has ended or has removed its trace, or a signal has come: what was written
 * until then can still be read.
 */
bool follow_has_ended(const struct follow *f);

/*
 * Waits until it is worth reading again, a few milliseconds at most; a signal ends it. Returns
 * false when the output, of this descriptor, has no reader any more.
 */
bool follow_wait(const struct follow *f, int out);

/* Waits for this time, or until the process ends. Returns as follow_wait() does. */
bool follow_wait_ms(const struct follow *f, int out, int ms);

void follow_close(struct follow *f);

#endif
