/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and blocks, and the most in a slot of time, with a row for each group and type. */
#pragma once

#include "map.h"
#include "rows.h"
#include "spanline.h"

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

/*
 * Adds a request that has ended. end, slot: ns. False if it ended too long before another one to count in a peak.
 */
bool rates_add(struct rates *rates, struct rows_name name, const struct spanline *line, uint64_t end, uint64_t slot);

/* What comes next has times of its own. */
void rates_next_file(struct rates *rates);

/* Leaves no rows. */
void rates_free(struct rates *rates);
