/* SPDX-License-Identifier: BSD-3-Clause */
/* biosnoop's lines. */
#ifndef BIOSNOOP_PRINT_H
#define BIOSNOOP_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "stamp.h"
#include "bpf/biosnoop.h"

struct biosnoop_printer {
	struct out *out;
	struct stamp stamp;
	bool queued;     /* also print the time in the queue */
	bool pattern;    /* also print whether a request is sequential */
	uint64_t number; /* of requests printed */
};

/* A short text, by value. */
struct word {
	char text[24];
};

/* The type of a request by its cmd_flags: the letters of blktrace's RWBS field. */
struct word print_type(uint32_t flags);

/* The line above the columns. */
void print_header(struct biosnoop_printer *p);

void print_text(struct biosnoop_printer *p, const struct biosnoop_event *e);

/* A trace line, see spdk-trace-lines(7). */
void print_json(struct biosnoop_printer *p, const struct biosnoop_event *e);

#endif
