/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One span line of a span without a parent (spdk-trace-lines(7)), parsed. All slices point into the line. Times are in
 * ns; one that is absent is 0. Keys may come in any order; the order of trace-spans is parsed fastest.
 */
#ifndef SPANLINE_H
#define SPANLINE_H

#include <stdint.h>

#include "fact.h"
#include "slice.h"

/* Input may have any number of each; trace-spans writes no more. */
enum { SPANLINE_WAITS = 3, SPANLINE_NAMES = 4 };

/* A name, with its time and its number of entries or buffers. */
struct spanline_name {
	struct slice name; /* as written between its quotes */
	uint64_t ns, n;
};

struct spanline_wait {
	uint64_t ns, at; /* at: from the start of the span */
	uint64_t silent; /* the longest silence in it */
	enum layer layer;
	bool has_lcore, is_queued; /* is_queued: in the queue of a socket */
	uint64_t lcore, buffers;
	struct spanline_name of[SPANLINE_NAMES], hosts[SPANLINE_NAMES], holder;
	unsigned num_of, num_hosts;
};

struct spanline {
	bool has_parent; /* then nothing else is set */
	bool admin, open, cut, lost;
	bool covered; /* by lines of offcpusnoop */
	uint64_t start, life, lcore;
	uint64_t layers[LAYERS];
	uint64_t facts[FACTS]; /* ns, of those that are measured in each request */
	uint64_t queue;        /* the size of the one that it filled */
	/* as written between quotes; empty if missing */
	struct slice id, source, connection, state; /* state: the first one that has a name */
	struct slice type, bdev, leg, status;
	bool has_blocks, has_lba, has_qd;
	uint64_t blocks, lba, qd;
	struct slice last_leg; /* of FACT_LEG; empty: none */
	struct spanline_name off_cpu_by[SPANLINE_NAMES], irq_by[SPANLINE_NAMES];
	unsigned num_off_cpu_by, num_irq_by;
	struct spanline_wait waits[SPANLINE_WAITS];
	unsigned num_waits;
};

/* Returns NULL, or why it is not a span line. */
const char *spanline_parse(struct spanline *l, struct slice line);

#endif
