/* SPDX-License-Identifier: BSD-3-Clause */
/* An array whose elements are found by 64-bit keys, with the map that numbers them. */
#ifndef TABLE_H
#define TABLE_H

#include <string.h>

#include "map.h"
#include "mem.h"

/*
 * The element of the key; a new one is all zero, and the last one of the array. Valid until the next call. The array is
 * one for mem_room(). The last three arguments are evaluated more than once, and changed.
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

#endif
