/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns slices to rows so that they do not overlap. */
#ifndef LANES_H
#define LANES_H

#include <stddef.h>
#include <stdint.h>

/* All zero has no rows. */
struct lanes {
	struct lane {
		uint64_t end; /* ns, of its last slice; UINT64_MAX: that is still open */
		uint32_t track;
	} * all; /* by end */
	size_t n, cap;
};

/*
 * Assigns a slice from first to end, in ns, to the free row that was used last, or to a new one.
 * Returns a pointer to the row's track, valid until the next call. It is MAP_NONE in a new row: the
 * caller sets it.
 */
uint32_t *lanes_assign(struct lanes *lanes, uint64_t first, uint64_t end);

#endif
