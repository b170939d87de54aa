/* SPDX-License-Identifier: BSD-3-Clause */
/* biosnoop's lines. */
#ifndef BIOSNOOP_PRINT_H
#define BIOSNOOP_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "bpf/biosnoop.h"

struct printer {
	struct out *out;
	bool queued;     /* with the time in the queue */
	uint64_t first;  /* when the first request was done, in ns; 0: none yet */
	uint64_t number; /* of lines with a request */
};

/* The line above the columns. */
void print_header(struct printer *p);

void print_text(struct printer *p, const struct event *e);

/* A trace line, see spdk-trace-lines(7). */
void print_json(struct printer *p, const struct event *e);

#endif
