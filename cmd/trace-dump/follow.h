/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns the entries of a live trace as they are written, in the order of their ticks.
 *
 * The rings are read in rounds: each round copies the slots between the last next_entry and the
 * current one into the snapshot that the trace was opened on. An entry is ready when every lcore has
 * reached its ticks, because all later entries have higher ticks. An lcore that writes nothing would
 * delay the others forever, so an entry that has waited for the lag is ready as well, with all
 * before it. When a ring has no room for new entries, the older half of it becomes ready.
 *
 * An entry is returned after one with higher ticks only if its lcore gave it ticks of the past, or
 * published it more than the lag after its ticks, or if another ring had no room in between.
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
	int pidfd;        /* of that process; -1: none */
	unsigned largest; /* slots of an entry, at most */
	struct follow_lcore {
		uint64_t next;   /* slots that were read, counted as next_entry does */
		uint64_t target; /* next_entry when the round started */
		/* slots from unsure up to sure may have been overwritten while they were copied */
		uint64_t unsure, sure;
		uint64_t gap;    /* lost slots before those, not yet counted */
		uint64_t newest; /* highest ticks that were read */
	} * lcores;
	uint64_t ready;  /* entries up to these ticks can be returned */
	uint64_t wanted; /* ticks that have to be ready for all rings to have room */
	uint64_t unread; /* the lowest `newest` of the rings without room */
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
 * Starts after the entries of t, which was opened on an updated snapshot of in. merge is only used
 * when entries are read. pid: of the process that writes the trace, 0 when it is not known. t, in
 * and merge stay the caller's, and must outlive f.
 *
 * From now on the first SIGINT, SIGTERM or SIGHUP stops following, and a later one ends the tool: signals.h.
 * Ignored signals stay ignored, as nohup(1) and background jobs of scripts need it.
 */
void follow_open(struct follow *f, struct trace *t, struct input *in, struct merge *merge, pid_t pid, uint64_t lag_ms);

/* The next entry that is ready. False when there is none now. */
bool follow_next(struct follow *f, unsigned *lcore, uint64_t *slot);

/* Reads an owner's record again, at most once a round. Returns whether it has changed. */
bool follow_refresh_owner(struct follow *f, unsigned id);

/*
 * Reads a round. last: no more is wanted. Then, or when follow_has_ended(), all entries that were
 * read become ready. Returns whether it must be called again: after such a round only if a ring had
 * no room for all entries.
 */
bool follow_read(struct follow *f, bool last);

/*
 * Whether the process has ended or has removed its trace, or a signal has come: what was written
 * until then can still be read.
 */
bool follow_has_ended(const struct follow *f);

/*
 * Waits a few milliseconds until the next round; a signal ends the wait. Returns false when the
 * output, with this descriptor, has no reader any more.
 */
bool follow_wait(const struct follow *f, int out);

/* Waits this long, or until the process ends. Returns as follow_wait() does. */
bool follow_wait_ms(const struct follow *f, int out, int ms);

void follow_close(struct follow *f);

#endif
