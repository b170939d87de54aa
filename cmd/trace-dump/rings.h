/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the rings of a live trace in rounds. Each round copies the slots between the last next_entry of a ring and the
 * current one into the snapshot that the trace was opened on, and passes them to a sink.
 *
 * Slots that the application may have overwritten meanwhile are unsure: they are decided on in a later round.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct input;
struct trace;

/* Gets slots of the lcore with this index, by their numbers, which count as next_entry does. */
struct rings_sink {
	void *context;
	/* Whether there is room for these slots: if not, they are left for the next round. NULL: there always is. */
	bool (*has_room)(void *context, unsigned lcore, uint64_t from, uint64_t to);
	/* These slots are unsure: an add() up to the same number follows when they are decided on. NULL: not needed. */
	void (*hold)(void *context, unsigned lcore, uint64_t from, uint64_t to);
	/* These slots are in the snapshot. lost: how many were overwritten right before them. There may be none. */
	void (*add)(void *context, unsigned lcore, uint64_t lost, uint64_t from, uint64_t to);
};

struct rings {
	struct trace *trace;
	struct input *in;
	struct rings_sink sink;
	pid_t pid;        /* of the process that writes, 0: not known */
	int pidfd;        /* of that process; -1: none */
	unsigned largest; /* slots of an entry, at most */
	struct rings_lcore {
		uint64_t next;   /* slots that were read, counted as next_entry does */
		uint64_t target; /* next_entry when the round started */
		/* slots from unsure up to sure may have been overwritten while they were copied */
		uint64_t unsure, sure;
		uint64_t gap; /* lost slots before those, not yet counted */
	} * lcores;
	unsigned idle;  /* consecutive rounds without entries */
	bool ended;     /* no more will come */
	bool restarted; /* another process has started to write the file from its beginning */
	uint64_t lost;  /* slots that were overwritten before they were read */
	uint64_t slots; /* that were written meanwhile, with those */
};

/*
 * Starts after the slots of t, which was opened on an updated snapshot of in. pid: of the process that writes the
 * trace, 0 when it is not known. t and in stay the caller's, and must outlive r.
 *
 * From now on the first SIGINT, SIGTERM or SIGHUP ends the reading, and a later one the tool: signals.h. Ignored
 * signals stay ignored, as nohup(1) and background jobs of scripts need it.
 */
void rings_open(struct rings *r, struct trace *t, struct input *in, const struct rings_sink *sink, pid_t pid);

/*
 * Whether the process has ended or has removed its trace, or a signal has come: what was written until then can still
 * be read.
 */
bool rings_have_ended(const struct rings *r);

/*
 * Reads a round. last: no more is wanted. Then, or when rings_have_ended(), which sets r->ended, nothing stays unsure.
 * Returns false if a ring was left for the next round since it had no room.
 */
bool rings_read(struct rings *r, bool last);

/*
 * Decides on the unsure slots of rings whose later slots have these ticks or less, so that these can be passed on: what
 * may have been overwritten counts as lost.
 */
void rings_settle(struct rings *r, uint64_t ticks);

/* Whether a ring has new slots by now, more than a quarter of it. */
bool rings_are_filling(const struct rings *r);

/*
 * Waits a few milliseconds until the next round; a signal ends the wait. Returns false when the output, with this
 * descriptor, has no reader any more.
 */
bool rings_wait(const struct rings *r, int out);

/* Waits this long, or until the process ends. Returns as rings_wait() does. */
bool rings_wait_ms(const struct rings *r, int out, int ms);

/* Returns whether all slots were read, otherwise after messages. verb: what the user does again, such as "record". */
bool rings_report(const struct rings *r, const char *name, const char *verb);

void rings_close(struct rings *r);
