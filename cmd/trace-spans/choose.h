/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the spans to print: those that match both of -t and -w. */
#ifndef TRACE_SPANS_CHOOSE_H
#define TRACE_SPANS_CHOOSE_H

#include "out.h"
#include "spans.h"

/* Shell patterns of an option; one that matches is enough. */
struct choose_globs {
	const char **all;
	size_t n, cap;
};

struct choose {
	struct choose_globs states, owners;
	uint64_t min_ns;
	struct out text; /* a string that is compared */
	struct choose_state {
		bool known, matches;
	} * known; /* whether states match -t, set on first use */
	size_t num_known, cap_known;
};

/* The pattern must outlive the patterns. */
void choose_add(struct choose_globs *globs, const char *glob);

/* Whether the span matches -t and -w. */
bool choose_span(struct choose *c, const struct spans *spans, const struct span *s);

void choose_free(struct choose *c);

#endif
