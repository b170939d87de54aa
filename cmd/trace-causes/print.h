/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-causes prints. */
#ifndef TRACE_CAUSES_PRINT_H
#define TRACE_CAUSES_PRINT_H

#include "findings.h"
#include "out.h"

struct print_options {
	uint64_t max;      /* findings; 0: all */
	const char *group; /* the key of -g; NULL: none */
	uint32_t value;    /* of it, in names */
	bool against;      /* fast requests are those of an earlier trace */
};

void print_text(struct out *out, const struct findings *f, struct blame *b, const struct compare *c,
		const struct print_options *options);
void print_json(struct out *out, const struct findings *f, struct blame *b, const struct compare *c,
		const struct print_options *options);

#endif
