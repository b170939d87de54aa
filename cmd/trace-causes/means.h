/* SPDX-License-Identifier: BSD-3-Clause */
/* What a slow request takes on average, and how much more that is than a fast one does: in ns, parts add up exactly. */
#ifndef TRACE_CAUSES_MEANS_H
#define TRACE_CAUSES_MEANS_H

#include "tally.h"

struct means {
	int64_t slow, fast, more; /* more: slow less fast */
	int64_t layers[LAYERS];   /* of more */
	int64_t overlaps[TALLY_OVERLAPS];
};

/* Of a set that has slow requests. */
struct means means_of(const struct tally_set *set);

/* The layer with most of more. */
enum layer means_largest(const struct means *m);

#endif
