/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owners of the trace that the recorded process writes, as lines among the probe lines:
 * spdk-trace-lines(7).
 *
 * From v24.05 on a trace names a TCP qpair by its owner only, and SPDK reuses the numbers of owners
 * for other connections. So owners are recorded when the probes report the qpairs.
 */
#pragma once

#include "out.h"
#include "ownerwatch.h"
#include "probespec.h"

struct attach;

struct owners_follower {
	enum owners_state {
		OWNERS_OFF,       /* not wanted, or no more to come */
		OWNERS_SEARCHING, /* no trace so far */
		OWNERS_FOLLOWING,
	} state;
	const struct attach *attach;
	struct out *out;
	bool quiet;
	char *name; /* of the trace */
	int fd;
	struct ownerwatch watch;
	uint64_t lines;   /* that were written */
	uint64_t renewed; /* when watch.left was last set, milliseconds of the clock */
	bool flooded;     /* it was 0, after a message */
	bool failed;      /* owners may be missing, after a message */
	bool starting;    /* no note that there is no trace so far */
	uint64_t checked; /* when the owners were last read, milliseconds of the clock */
	bool due;         /* a qpair was reported since then */
	size_t mark;      /* offset in the output of its line, from which on lines are held back */
	bool again;       /* one was reported before the last reading */
};

/* Whether one of these probes reports qpairs, for which owners are needed. */
bool owners_wanted(const struct probespecs *specs);

/*
 * Searches for the trace of the recorded processes, and writes its owners. The caller sets attach,
 * out, quiet and starting: a process that is being started cannot have a trace yet. While the state
 * is OWNERS_SEARCHING, the privileges to read other processes are needed; owners_check() drops all
 * privileges when it ends the search.
 */
void owners_start(struct owners_follower *o);

/*
 * owners_event() is called for each event before it is written. owners_check() is called between
 * events, as often as possible, and before the output is flushed: an owner line must precede the
 * lines of its qpair.
 */
void owners_event(struct owners_follower *o, const struct probespec *spec);
void owners_check(struct owners_follower *o);

/* Reads the owners a last time. Returns false if owners may be missing after a failure. */
bool owners_finish(struct owners_follower *o);
