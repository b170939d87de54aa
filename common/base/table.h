/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays for mem_room() whose elements are found by keys or by numbers. */
#pragma once

#include <string.h>

#include "map.h"
#include "mem.h"

/*
 * The element of a 64-bit key, by the map that numbers the elements; a new one is all zero, and the last one of the
 * array. Valid until the next call. The last three arguments are evaluated more than once, and changed.
 *
 *	struct place *place = table_put(&t->map, address, t->places, t->n, t->cap);
 */
#define table_put(map, key, array, n, cap)                            \
	({                                                            \
		uint32_t *index_ = map_put(map, key);                 \
                                                                      \
		if (*index_ == MAP_NONE) {                            \
			*index_ = (n);                                \
			(array) = mem_room(array, n, &(cap));         \
			memset(&(array)[(n)++], 0, sizeof(*(array))); \
		}                                                     \
		&(array)[*index_];                                    \
	})

/*
 * The i-th element; an array with fewer ones grows to it, and new ones are all zero. Valid until the next call. The
 * first three arguments are evaluated more than once, and changed.
 *
 *	table_at(t->uses, t->num_uses, t->cap_uses, number)->n++;
 */
#define table_at(array, n, cap, i)                                    \
	({                                                            \
		size_t at_ = (i);                                     \
                                                                      \
		while ((n) <= at_) {                                  \
			(array) = mem_room(array, n, &(cap));         \
			memset(&(array)[(n)++], 0, sizeof(*(array))); \
		}                                                     \
		&(array)[at_];                                        \
	})
