/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for texts: equal texts have the same number, counted from 0 in the order of their coming. */
#ifndef NAMES_H
#define NAMES_H

#include "map.h"
#include "slice.h"

/* All zero is an empty set of names. */
struct names {
	struct map map;
	struct slice *all; /* copies, owned, with a NUL byte behind them */
	uint32_t n, cap;
	uint64_t seed[2];
};

/* The number of this text, which is added when it is new. MAP_NONE when there is no memory. */
uint32_t names_add(struct names *names, struct slice text);

/* The number of this text, MAP_NONE when it was never added. */
uint32_t names_get(const struct names *names, struct slice text);

void names_free(struct names *names);

#endif
