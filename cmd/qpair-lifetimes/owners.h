/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owners of a trace, from what trace-dump -O prints or from owner lines among probe lines; those of NVMe-oF TCP
 * taken apart.
 */
#ifndef QPAIR_LIFETIMES_OWNERS_H
#define QPAIR_LIFETIMES_OWNERS_H

#include <stdint.h>

#include "slice.h"

/* Numbers of owners, and of lcores, are below. */
enum { OWNERS_IDS = 1 << 16 };

struct owner {
	uint64_t id;
	uint64_t tsc;    /* of its registration */
	uint64_t end;    /* ticks when its qpair was gone, at the latest; UINT64_MAX: not known */
	uint64_t lcore;  /* where its entries are; UINT64_MAX: not known, or several */
	uint64_t thread; /* that registered it; UINT64_MAX: not known */
	char type;       /* the letter of it, 0: none */
	bool tcp;        /* it is a connection of NVMe-oF TCP */
	bool moved;      /* several lcores have entries of it */
	bool taken;      /* by a qpair */
	bool has_qid;
	uint64_t qid;
	struct slice subnqn; /* empty before the host has connected */
	bool cut;            /* subnqn may have been longer */
	char *description;
	size_t order; /* in which it was read */
};

struct owners {
	const char *name; /* of the file */
	struct owner
		*all; /* in the order of registration, as those of TCP, when they are settled */
	size_t n, cap;
	struct owner **tcp;
	size_t num_tcp;
	unsigned poll_groups; /* that have a name among the owners */
	/* ticks from which on no owner is missing, as far as one of the sources tells; see qpair-lifetimes-match.h */
	uint64_t whole_since;
	size_t num_sources;
	size_t num_read;         /* by owners_read() */
	uint64_t followed_since; /* the same ticks of the owner lines */
};

/*
 * Adds what trace-dump -O printed, at one time or with -F. Returns 0, or -1 when something was wrong with it, which was
 * said; a file that cannot be opened or is of another kind, and a lack of memory here and below, end the tool.
 */
int owners_read(struct owners *o, const char *path);

/*
 * Adds an owner line, without its name. last_added: the latest ticks at which a qpair was added in the lines before, 0:
 * none was. Returns NULL, or what is wrong with the line.
 */
const char *owners_add_line(struct owners *o, struct slice fields, uint64_t last_added);

/*
 * To be called when all have been added: what was said of an owner, which is known by its number and the ticks of its
 * registration, becomes one. The newest description counts.
 */
void owners_settle(struct owners *o);

/*
 * Takes the description of an owner of type t apart, which is a thread or a connection: CLIENT:PORT, then SUBNQN
 * once the host has connected, and from v26.05 on LISTENER:PORT, where the listener is still there, and qid:N.
 */
void owner_read_description(struct owner *owner);

bool owner_is_poll_group(const struct owner *owner);

/* How many owners of TCP were registered before these ticks: they are the first ones. */
size_t owners_before(const struct owners *o, uint64_t tsc);

void owners_free(struct owners *o);

#endif
