/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waited for what, and who had it: the rows of a set, added up by host, resource and holder. */
#pragma once

#include "tally.h"

struct owed {
	struct owed_row {
		uint32_t host, of, who; /* names; MAP_NONE: not known, or there is one only */
		enum fact fact;
		unsigned __int128 ns, all; /* all: of its host, resource and thing */
	} * all;                           /* rows of the same follow each other, the longest time first */
	size_t n, cap;
};

/* o is all zero. The set is one of a group. */
void owed_find(struct owed *o, const struct tally *t, uint32_t set);

/* The end of the rows about the same host, resource and thing as the i-th one. */
size_t owed_end(const struct owed *o, size_t i);

void owed_free(struct owed *o);
