/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary search. */
#pragma once

#include <stddef.h>

/*
 * The first i below n for which the condition holds, or n. From there on it must hold.
 *
 *	size_t next = search_first(i, list->n, list->all[i].time > now);
 */
#define search_first(i, n, condition)                         \
	({                                                    \
		size_t low_ = 0, high_ = (n);                 \
                                                              \
		while (low_ < high_) {                        \
			size_t i = low_ + (high_ - low_) / 2; \
                                                              \
			if (condition)                        \
				high_ = i;                    \
			else                                  \
				low_ = i + 1;                 \
		}                                             \
		low_;                                         \
	})
