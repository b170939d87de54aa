/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of --rates: requests and blocks per second, with a row for each group and type. */
#ifndef TRACE_LATENCY_RATES_H
#define TRACE_LATENCY_RATES_H

#include "map.h"
#include "out.h"
#include "rows.h"
#include "terminal.h"

enum {
	RATES_SLOT_NS = 10 * 1000 * 1000, /* of a peak */
	RATES_SLOTS = 8,                  /* that are counted at a time: requests end nearly in order */
};

/* All zero has no rows. */
struct rates {
	struct map map;
	struct rate {
		struct rows_name name;
		bool has_blocks; /* known of some of them */
		uint64_t count;
		unsigned __int128 life, blocks; /* life: ns */
		/* the most in a slot */
		uint64_t peak;
		unsigned __int128 peak_blocks;
		struct rate_slot {
			uint64_t number, count; /* number: its time divided by the length of a slot */
			unsigned __int128 blocks;
		} slots[RATES_SLOTS];
	} * all;
	size_t n, cap;
};

/* A request that has ended. blocks: NULL if unknown. */
struct rates_request {
	struct rows_name name;
	uint64_t end, life; /* ns */
	const uint64_t *blocks;
};

/* slot: ns. False if the request ended too long before another one to count in a peak. */
bool rates_add(struct rates *rates, const struct rates_request *request, uint64_t slot);

/* rows has the texts of the groups and types, and the interval. ns: the time in which the requests ended. */
void rates_print_table(struct out *out, const struct rates *rates, const struct rows *rows, uint64_t ns, uint64_t slot,
		       const struct terminal *terminal);
void rates_print_json(struct out *out, const struct rates *rates, const struct rows *rows, uint64_t ns, uint64_t slot);

/* What comes next has times of its own. */
void rates_next_file(struct rates *rates);

/* Leaves no rows. */
void rates_free(struct rates *rates);

#endif
