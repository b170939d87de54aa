/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the life of a request among causes, to the nanosecond: what it waited for, and who had that. A part is proven
 * if the request's line, or those of others, rule out another cause.
 */
#ifndef BLAME_H
#define BLAME_H

#include "requests.h"

struct blame_part {
	enum fact cause;
	uint32_t who;        /* in names; an lcore by its name; MAP_NONE: nobody that is known */
	uint64_t ns, proven; /* proven: of ns */
};

/* Parts of a request: those of its waits, times that overlap layers, and the rest of each layer. */
enum {
	BLAME_PARTS = SPANLINE_WAITS * (2 * SPANLINE_NAMES + 4) + 2 * (SPANLINE_NAMES + 1) + 2 * (FACTS_PROVEN + 2) +
		      LAYERS
};

/* What was waited for in a long wait of a request, and whom that belonged to. */
struct blame_wait {
	enum blame_what {
		BLAME_BUFFERS,
		BLAME_LCORE,
		BLAME_SOCKET,
		BLAME_DATA, /* of the host */
		BLAME_BDEV,
		BLAME_LEG, /* of the bdev that `who` is */
		BLAME_IO,  /* the start of a bdev I/O */
		BLAME_WHATS
	} what;
	uint32_t of;  /* the lcore, bdev or leg, in names; MAP_NONE: not known, or there is one only */
	uint32_t who; /* MAP_NONE: nobody that is known */
	uint64_t ns;
};

extern const char *const blame_whats[BLAME_WHATS];

/* A wait has names of connections and of hosts, and what is left. */
enum { BLAME_WAITS = SPANLINE_WAITS * (2 * SPANLINE_NAMES + 2) };

struct blame {
	struct requests *requests;
	/* by lcore: requests by their starts, and the earliest end of those from there on */
	struct blame_lcore {
		struct blame_cycle {
			uint64_t start, end;
		} * all;
		size_t n, cap;
	} * lcores;
	/* by name of a bdev: the median of what its requests spend in it */
	struct blame_bdev {
		uint64_t median;
		size_t n;
	} * bdevs;
	struct map silences; /* lcore and length of those in which a request waited for the lcore only */
	struct blame_part parts[BLAME_PARTS];
	unsigned n;
	struct blame_wait waits[BLAME_WAITS];
	unsigned num_waits;
};

/* Reads all requests, and marks those in which an lcore stood still; they must outlive b. */
void blame_start(struct blame *b, struct requests *requests);

/* Sets parts, whose sum is the life of the request, and waits, whose sum is that of its waits. */
void blame_request(struct blame *b, const struct request *q);

void blame_free(struct blame *b);

#endif
