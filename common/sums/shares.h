/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of requests by layers, facts and what other tools have recorded, with a row for each group and type. */
#pragma once

#include "rows.h"
#include "spanline.h"

/* All zero has no rows. */
struct shares {
	struct map map;
	bool has_overlaps; /* other tools have recorded some of the time; the caller's */
	struct share {
		struct rows_name name;
		uint64_t count;
		unsigned __int128 life, layers[LAYERS]; /* ns */
		/* of those that lines of its tool cover */
		struct share_overlap {
			uint64_t count;
			unsigned __int128 life, ns;
		} overlaps[OVERLAPS];
		unsigned __int128 silent;              /* ns: silences */
		unsigned __int128 rare;                /* ns: of these, those of lcores that seldom are so long */
		unsigned __int128 facts[FACTS_PROVEN]; /* ns, of fact_proven */
		unsigned __int128 queue;               /* ns: lives of those that filled their connection's queue */
	} * all;
	size_t n, cap;
};

/* Adds a request, with the time for which it was unread. is_rare: its lcore is seldom silent for so long. */
void shares_add(struct shares *shares, struct rows_name name, const struct spanline *line, bool is_rare);

/* Leaves no rows. */
void shares_free(struct shares *shares);
