/* SPDX-License-Identifier: BSD-3-Clause */
/* What held reactors up, and when: the process that preempted one, the call that it was blocked in, an interrupt. */
#pragma once

#include "spans.h"

/* All zero at first, except for spans. */
struct held {
	const struct spans *spans;
	struct intern names; /* as written in JSON, for terminals */
	struct intern texts; /* of stories, such as "preempted by stress-ng (77)" */
	struct out text, visible;
	struct held_sum {
		uint32_t name;
		uint64_t ns;
	} * sums; /* of this kind of times */
	enum reactors_kind kind;
	size_t num_sums, cap_sums;
	size_t *places; /* by name + 1, where MAP_NONE is 0: index in sums, valid if that sum has the name */
	size_t num_places, cap_places;
};

/* Sets the cause of the interval of a line, and its text, to numbers of these; MAP_NONE: there are too many. */
void held_cause(struct held *h, struct reactors_interval *interval, const struct traceline *line);

/* Sets sums to the time of each cause that held the reactors of the span's entries, the longest time first. */
void held_find(struct held *h, const struct span *s, enum reactors_kind kind);

/* The name of a cause; and the text of an interval. */
struct slice held_name(const struct held *h, uint32_t name);
struct slice held_text(const struct held *h, const struct reactors_interval *interval);

void held_free(struct held *h);
