/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the life of a request into entries, to the nanosecond: each part of it belongs to a resource that it needed,
 * and somebody or something had that resource. A part is proven if the request's line, or those of others, rule out
 * another cause.
 */
#pragma once

#include "requests.h"

struct ledger_entry {
	enum fact fact; /* how the resource was had; fact_table has which it is */
	/* names; MAP_NONE: not known, or there is one only. of: the lcore, bdev or leg; who: had it */
	uint32_t of, who;
	uint64_t ns, proven; /* proven: of ns */
};

/* Entries of a request: those of its waits, times that overlap layers, and the rest of each layer. */
enum {
	LEDGER_ENTRIES = SPANLINE_WAITS * (2 * SPANLINE_NAMES + 4) + 2 * (SPANLINE_NAMES + 1) + 2 * (FACTS_PROVEN + 2) +
			 LAYERS
};

struct ledger {
	struct requests *requests;
	/* by lcore: requests by their starts, and the earliest end of those from there on */
	struct ledger_lcore {
		struct ledger_cycle {
			uint64_t start, end;
		} * all;
		size_t n, cap;
	} * lcores;
	bool *on_cpu; /* by name of a bdev: whether it completes I/O on the CPU */
	/* of the latest request */
	struct ledger_entry entries[LEDGER_ENTRIES];
	unsigned n;
};

/* Reads all requests, which must outlive l. */
void ledger_start(struct ledger *l, struct requests *requests);

/* Sets entries, whose sum is the life of the request. */
void ledger_request(struct ledger *l, const struct request *q);

void ledger_free(struct ledger *l);
