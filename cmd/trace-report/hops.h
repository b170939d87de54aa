/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the time of requests was that cross several processes: on which side, hop and leg. The traces are matched, and
 * each part of a request's life is given to a place: a layer of a process, or the network between two.
 */
#pragma once

#include "each_traceline.h"
#include "matching.h"

struct hops {
	size_t n;
	char **folders;                       /* of the processes, or what these are called */
	bool are_owned;                       /* else they are operands */
	const pid_t *pids;                    /* NULL: they are folders */
	char **paths;                         /* of their files, two of each; owned */
	struct matching m;                    /* of them */
	struct each_traceline *files, *again; /* their traces, read twice */
	struct each_traceline *away;          /* when their threads did not run, where that was recorded */
	bool *has_away;
};

/*
 * Finds several processes: those with these CLI_IDS ids, of which unused ones are 0, the folders that are given, as
 * FOLDER or NAME=FOLDER, or those in the only one, as trace-record makes them, and opens their traces. Returns false if
 * there are not several. A mistake is a usage error; exits after a message if a trace cannot be opened.
 */
bool hops_find(struct hops *h, int n, char **operands, const pid_t *pids, struct out *out);

/* Reads the traces, and writes the page; found: a cause. Returns whether all was good, else after a message. */
bool hops_write(struct hops *h, struct out *page, bool *found);

void hops_free(struct hops *h);
