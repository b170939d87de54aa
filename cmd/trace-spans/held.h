/* SPDX-License-Identifier: BSD-3-Clause */
/* What held reactors up, and when: the process that preempted one, the call that it was blocked in, an interrupt. */
#ifndef TRACE_SPANS_HELD_H
#define TRACE_SPANS_HELD_H

#include "spans.h"

enum { HELD_KEPT = 65536 }; /* latest intervals of each reactor */

/* All zero at first, except for spans. */
struct held {
	const struct spans *spans;
	struct intern names; /* as written in JSON, for terminals */
	struct held_ring {
		struct held_interval {
			uint64_t begin, end; /* ns */
			enum reactors_kind kind;
			uint32_t name;
		} * all;
		size_t cap;
		uint64_t n; /* so far */
	} * rings;          /* by reactor */
	size_t num_rings, cap_rings;
	struct held_sum {
		uint32_t name;
		uint64_t ns;
	} * sums;
	size_t num_sums, cap_sums;
	size_t *places; /* by name + 1, where MAP_NONE is 0: index in sums, valid if that sum has the name */
	size_t num_places, cap_places;
};

/* Keeps an interval; the line says its cause. */
void held_keep(struct held *h, const struct reactor *reactor, const struct reactors_interval *interval,
	       const struct traceline *line);

/*
 * Writes the time of each cause that held the reactor of the span's first entry, the longest time first, as a JSON
 * object. False, with nothing written, if none did.
 */
bool held_write(struct held *h, struct out *out, const struct span *s, enum reactors_kind kind);

void held_free(struct held *h);

#endif
