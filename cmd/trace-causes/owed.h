/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waited for whom: the long waits of slow requests, divided among those who had what was waited for. */
#ifndef TRACE_CAUSES_OWED_H
#define TRACE_CAUSES_OWED_H

#include "blame.h"
#include "compare.h"

struct owed {
	struct owed_row {
		uint32_t victim; /* a host */
		enum blame_what what;
		uint32_t of, who; /* as in struct blame_wait */
		unsigned __int128 ns;
	} * all; /* rows of the same victim and thing follow each other, the longest time first */
	size_t n, cap;
	struct map map;
};

void owed_find(struct owed *o, struct blame *b, const struct compare *c, enum compare_set set);

/* Whether two rows are about the same victim and thing. */
static inline bool owed_same(const struct owed_row *a, const struct owed_row *b)
{
	return a->victim == b->victim && a->what == b->what && a->of == b->of;
}

void owed_free(struct owed *o);

#endif
