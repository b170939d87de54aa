/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is kept of probe lines for which a window has no room: those of connections that live, of others that were added
 * shortly before them, since qpair-lifetimes finds owners by the order of these, of owners whose number was not reused,
 * and the latest clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map.h"
#include "out.h"
#include "slice.h"

struct probes {
	uint64_t max_size; /* of the lines; set by the caller, all else is zero at first */
	bool has_dropped;  /* there were more lines of living connections: all were dropped */

	struct out text;
	struct probes_line {
		size_t size;
		uint32_t life;
	} * lines;
	size_t num_lines, cap_lines;
	struct probes_life {
		enum { PROBES_CONNECTION, PROBES_OWNER, PROBES_CLOCK } kind;
		bool has_ended;
		uint64_t tsc, key; /* key: of its map */
	} * lives;
	size_t num_lives, cap_lives, purge_at;
	struct map keys[PROBES_CLOCK + 1]; /* of each kind, the latest life at an address or of a number */
};

/* Adds a line, which comes after all others. */
void probes_add(struct probes *p, struct slice line);

/* The lines that are kept, valid until the next call. */
struct slice probes_lines(struct probes *p);

/* Forgets all lines. */
void probes_clear(struct probes *p);
