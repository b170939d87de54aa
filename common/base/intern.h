/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * String interning: equal texts have the same number, counted from 0 in the order they are added.
 */
#pragma once

#include "map.h"
#include "slice.h"

/* All zero is an empty set of names. */
struct intern {
	struct map map;
	struct slice *all; /* copies, owned, each with a NUL byte after it */
	uint32_t n;
	size_t cap;
	uint64_t seed[2];
	uint32_t recent[64]; /* a cache of numbers, indexed by a cheap hash of the text */
};

/* The number of this text, which is added if it is new. */
uint32_t intern_add(struct intern *names, struct slice text);

/* The same, but MAP_NONE if the text is new and there are already max texts. */
uint32_t intern_add_below(struct intern *names, struct slice text, uint32_t max);

/* The number of this text, MAP_NONE if it was never added. */
uint32_t intern_get(const struct intern *names, struct slice text);

/* The numbers of all texts, sorted by qsort_r(), which gets the context. The caller frees them. */
uint32_t *intern_sort(const struct intern *names, int (*compare)(const void *, const void *, void *),
		      const void *context);

void intern_free(struct intern *names);
