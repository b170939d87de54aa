/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the spans to print: those that match all of -k, -t and -w. */
#ifndef TRACE_SPANS_CHOOSE_H
#define TRACE_SPANS_CHOOSE_H

#include "out.h"
#include "print.h"
#include "spans.h"

/* Shell patterns of an option; one that matches is enough. */
struct choose_globs {
	struct choose_glob {
		const char *key; /* of -k, else NULL */
		const char *glob;
		bool found; /* of -k: a span had this key */
	} * all;
	size_t n, cap;
};

struct choose {
	struct choose_globs keys; /* all of these have to match */
	struct choose_globs states, owners;
	uint64_t min_ns;
	uint64_t num_compared; /* spans that were matched with -k */
	struct out text;       /* a string that is compared */
	struct choose_state {
		bool known, matches;
	} * known; /* whether states match -t, set on first use */
	size_t num_known, cap_known;
};

/* Adds KEY=GLOB. False if the text has another form. The text must outlive c. */
bool choose_add_key(struct choose *c, const char *text);
void choose_add(struct choose_globs *globs, const char *glob);

/* Whether the span matches -t and -w. */
bool choose_span(struct choose *c, const struct spans *spans, const struct span *s);

/* Whether the span is wanted by -k. */
bool choose_keys(struct choose *c, struct print *print, const struct span *s);

void choose_free(struct choose *c);

#endif
