/* SPDX-License-Identifier: BSD-3-Clause */
/* What a slow request takes on average, and how much more that is than a fast one does: in ns, parts add up exactly. */
#pragma once

#include "tally.h"

struct means {
	__int128 slow, fast, more; /* more: slow less fast */
	__int128 layers[LAYERS];   /* of more */
	__int128 overlaps[OVERLAPS];
};

/* Of a set that has slow requests. */
struct means means_of(const struct tally_set *set);

/* The layer with most of more. */
enum layer means_largest(const struct means *m);
