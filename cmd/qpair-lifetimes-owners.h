/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner records of a trace, as trace-dump -O prints them; those of NVMe-oF TCP taken apart. */
#ifndef QPAIR_LIFETIMES_OWNERS_H
#define QPAIR_LIFETIMES_OWNERS_H

#include <stdint.h>

#include "slice.h"

struct owner {
	uint64_t id;
	uint64_t tsc;    /* of its registration */
	uint64_t end;    /* ticks when its qpair was destroyed; UINT64_MAX: not known */
	uint64_t lcore;  /* where its entries are; UINT64_MAX: not known, or several */
	uint64_t thread; /* that registered it; UINT64_MAX: not known */
	bool tcp;        /* it is a connection of NVMe-oF TCP */
	bool moved;      /* several lcores have entries of it */
	bool taken;      /* by a qpair */
	bool has_qid;
	uint64_t qid;
	struct slice subnqn; /* empty before the host has connected */
	bool cut;            /* subnqn may have been longer */
	char *description;
};

struct owners {
	const char *name;  /* of the file */
	struct owner *all; /* in the order of registration, as those of TCP */
	size_t n, cap;
	struct owner **tcp;
	size_t num_tcp;
	unsigned poll_groups; /* that have a name among the owners */
	/* ticks from which on no owner is missing; see qpair-lifetimes-match.h */
	uint64_t whole_since;
};

/*
 * Reads what trace-dump -O printed. Returns 0, or -1 when something was wrong with it, which was said; a file that
 * cannot be opened, and a lack of memory here and below, end the tool.
 */
int owners_read(struct owners *o, const char *path);

/* How many owners of TCP were registered before these ticks: they are the first ones. */
size_t owners_before(const struct owners *o, uint64_t tsc);

void owners_free(struct owners *o);

#endif
