/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-causes prints. */
#ifndef TRACE_CAUSES_PRINT_H
#define TRACE_CAUSES_PRINT_H

#include "findings.h"
#include "out.h"
#include "terminal.h"

struct print_options {
	uint64_t max;      /* findings; 0: all */
	const char *group; /* the key of -g; NULL: none */
	bool against;      /* fast requests are those of an earlier trace */
	struct terminal terminal;
};

/* A page, as wide as the terminal. */
void print_text(struct out *to, const struct findings *f, const struct print_options *options);

/* Prints an object for each finding. Without findings, prints one with the cause "none". */
void print_json(struct out *out, const struct findings *f, const struct print_options *options);

/* An lcore's name, without its source. */
void print_lcore(struct out *out, const struct tally *t, uint32_t name);

#endif
