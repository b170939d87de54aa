/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the spans to print, by the states that they were in. */
#pragma once

#include "out.h"
#include "spans.h"

struct choose {
	const char **globs; /* shell patterns of -t; one that matches is enough */
	size_t n, cap;
	uint64_t min_ns;
	struct out text; /* a state that is compared */
	struct choose_state {
		bool known, matches;
	} * known; /* whether states match -t, set on first use */
	size_t num_known, cap_known;
};

/* The pattern must outlive c. */
void choose_add(struct choose *c, const char *glob);

/* Whether the span matches -t. */
bool choose_span(struct choose *c, const struct spans *spans, const struct span *s);

void choose_free(struct choose *c);
