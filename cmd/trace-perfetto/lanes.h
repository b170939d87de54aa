/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays slices on rows, on which they do not overlap. */
#ifndef TRACE_PERFETTO_LANES_H
#define TRACE_PERFETTO_LANES_H

#include <stddef.h>
#include <stdint.h>

/* All zero has no rows. */
struct lanes {
	struct lane {
		uint64_t end; /* ns, of its last slice */
		uint32_t track;
	} * all; /* by end */
	size_t n, cap;
};

/* The end of a slice that goes on. */
#define LANES_NO_END UINT64_MAX

/*
 * Takes the row for a slice from first to end: the one that was used last of those that are free.
 * Returns the place of its track, which the caller sets in a new row, where it is MAP_NONE.
 */
uint32_t *lanes_take(struct lanes *lanes, uint64_t first, uint64_t end);

#endif
