/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns slices to rows so that they do not overlap. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lanes_block;

/* All zero has no rows. */
struct lanes {
	struct lanes_block **blocks; /* of lanes that are or will be free, by the ends of their last slices */
	size_t n, cap;
	uint32_t last; /* track of a slice that stays open */
};

/*
 * Assigns a slice from first to end, in ns, to the free row that was used last, or to a new one. end: UINT64_MAX for a
 * slice that stays open. Returns a pointer to the row's track, valid until the next call. It is MAP_NONE in a new row:
 * the caller sets it.
 */
uint32_t *lanes_assign(struct lanes *lanes, uint64_t first, uint64_t end);

void lanes_free(struct lanes *lanes);
