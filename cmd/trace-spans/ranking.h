/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores the texts with the largest keys, of any number that are added. */
#pragma once

#include "out.h"

struct ranking {
	uint64_t max; /* how many are stored; 0: all */
	uint64_t added;
	uint64_t least;      /* a smaller key is not among the largest so far */
	const char *between; /* two texts that are written */
	struct ranking_text {
		uint64_t key;
		uint64_t order; /* of equal keys, the one that was added first is the larger one */
		struct slice text;
	} * all; /* at most twice as many */
	size_t n, cap;
};

/* Whether a text with this key would be stored. */
bool ranking_wants(const struct ranking *r, uint64_t key);

/* Stores a copy of the text. The caller has asked ranking_wants(). */
void ranking_add(struct ranking *r, uint64_t key, struct slice text);

/* Writes the texts, the largest key first, and removes them. */
void ranking_write(struct ranking *r, struct out *out);
