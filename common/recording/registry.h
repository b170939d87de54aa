/* SPDX-License-Identifier: BSD-3-Clause */
/* The owners of a trace, from what trace-dump -O prints or from owner lines among probe lines. */
#pragma once

#include <stdint.h>

#include "slice.h"

struct answer;
struct qpair;

/* All numbers of owners, and of lcores, are below this. */
enum { OWNERS_IDS = 1 << 16 };

struct owner {
	uint64_t id;
	uint64_t tsc;    /* of its registration */
	uint64_t end;    /* ticks when its qpair was gone, at the latest; UINT64_MAX: not known */
	uint64_t lcore;  /* of its entries; UINT64_MAX: not known, or several */
	uint64_t thread; /* that registered it; UINT64_MAX: not known */
	char type;       /* its letter; 0: none */
	bool tcp;        /* it is a connection of NVMe-oF TCP */
	bool moved;      /* several lcores have entries of it */
	bool assigned;   /* to a qpair */
	bool has_qid;
	uint64_t qid;
	struct slice peer;   /* of a connection: address:port of its host */
	struct slice subnqn; /* empty before the host has connected */
	bool cut;            /* subnqn may have been longer */
	char *description;
	size_t order;         /* its position in the input */
	uint64_t came;        /* milliseconds: when its first line came; 0: not noted yet */
	struct qpair *living; /* that it is assigned to, until that has ended */

	/* set by answers_match() */
	const struct answer *answer; /* that lists its connection; NULL: none */
	bool contradicted;           /* by another one */
};

struct owners {
	struct owner *all; /* in the order of registration after registry_merge(), as is tcp */
	size_t n, cap;
	size_t num_added;
	struct owner **tcp;
	size_t num_tcp;
	bool had_tcp;         /* tcp has or had one */
	unsigned poll_groups; /* whose threads are among the owners */
	/* ticks from which on one of the sources has all owners; see match.h */
	uint64_t whole_since;
	size_t num_sources;
	size_t num_read;         /* by registry_add() */
	uint64_t followed_since; /* ticks of the last addition before the first owner line: later owners have lines */
};

/* Adds a line of trace-dump -O, with or without -F: a lines_callback. */
const char *registry_add(void *owners, struct slice line);

/* To be called when all of these lines have been added, before any other line. */
void registry_add_table(struct owners *o);

/*
 * Adds an owner line, without its name. last_added: highest ticks of an addition in the lines before
 * it; 0: there was no addition. Returns NULL, or what is wrong with the line.
 */
const char *registry_add_line(struct owners *o, struct slice fields, uint64_t last_added);

/* To be called when all lines of a file have been added, before registry_merge(): finds whole_since. */
void registry_find_whole(struct owners *o);

/*
 * To be called after lines have been added: merges those with the same owner number and ticks of
 * registration, which are about one owner. The newest description counts.
 */
void registry_merge(struct owners *o);

/*
 * Drops the owners whose numbers were reused, except the recent ones and those of qpairs that live. To be
 * called after registry_merge().
 */
void registry_forget(struct owners *o, size_t recent);

/*
 * Whether a qpair that was added at these ticks may have an owner. Owner lines have every owner from its registration
 * on, so without one of TCP among them all qpairs are of transports whose entries have their address. A table that was
 * read once does not prove this, since it may be older than the connections. To be called after registry_merge().
 */
bool registry_possible(const struct owners *o, uint64_t tsc);

/* How many owners of TCP were registered before these ticks: the first ones in o->tcp. */
size_t registry_before(const struct owners *o, uint64_t tsc);

void registry_free(struct owners *o);
