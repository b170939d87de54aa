/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waited for whom: the long waits of slow requests, divided among those who had what was waited for. */
#ifndef OWED_H
#define OWED_H

#include "tally.h"

struct owed {
	struct owed_row {
		const struct tally_wait *wait;
		unsigned __int128 all; /* ns of its victim and thing */
	} * all;                       /* rows of the same victim and thing follow each other, the longest time first */
	size_t n, cap;
};

/* o is all zero. The set is one of a group. The tally must outlive o, and stay as it is. */
void owed_find(struct owed *o, const struct tally *t, uint32_t set);

/* The end of the rows about the same victim and thing as the i-th one. */
size_t owed_end(const struct owed *o, size_t i);

void owed_free(struct owed *o);

#endif
