/* SPDX-License-Identifier: BSD-3-Clause */
/* What held reactors up, and when: the process that preempted one, the call that it was blocked in, an interrupt. */
#pragma once

#include "spans.h"

/* All zero at first, except for spans. */
struct held {
	const struct spans *spans;
	struct intern names; /* as written in JSON, for terminals */
	struct held_sum {
		uint32_t name;
		uint64_t ns;
	} * sums;
	size_t num_sums, cap_sums;
	size_t *places; /* by name + 1, where MAP_NONE is 0: index in sums, valid if that sum has the name */
	size_t num_places, cap_places;
};

/* The cause of the interval of a line, in names; MAP_NONE: there are too many. */
uint32_t held_cause(struct held *h, const struct traceline *line);

/* Sets sums to the time of each cause that held the reactor of the span's first entry, the longest time first. */
void held_find(struct held *h, const struct span *s, enum reactors_kind kind);

/* The name of a cause. */
struct slice held_name(const struct held *h, uint32_t name);

void held_free(struct held *h);
