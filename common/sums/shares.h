/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of requests by layers, facts and what other tools have recorded, with a row for each group and type. */
#pragma once

#include "overlaps.h"
#include "proofs.h"
#include "rows.h"
#include "spdk.h"

/* All zero has no rows. */
struct shares {
	struct map map;
	bool has_overlaps; /* the parts of overlaps.h are known */
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

/* A request: its life and the parts of it, in ns. */
struct shares_request {
	struct rows_name name;
	uint64_t life;
	const uint64_t *layers; /* LAYERS of them */
	const struct overlaps *overlaps;
	bool is_rare; /* as overlaps_silence_is_rare() */
	struct proofs_facts facts;
};

void shares_add(struct shares *shares, const struct shares_request *request);

/* Leaves no rows. */
void shares_free(struct shares *shares);
