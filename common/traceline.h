/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One trace line (spdk-trace-lines(7)) taken apart.
 * All slices point into the line. Keys may come in any order, but the order of trace-dump is the fast one.
 */
#ifndef TRACELINE_H
#define TRACELINE_H

#include <stdint.h>

#include "slice.h"

struct traceline {
	uint64_t tsc;
	struct slice us, lcore, size, object_us; /* numbers as written; p is NULL without */
	/* strings as written between quotes, ditto */
	struct slice thread, tpoint, poller, owner, object_id, related;
	uint64_t object_value;
	struct traceline_arg {
		struct slice key;   /* as written between quotes */
		struct slice value; /* as written, with its quotes; p is NULL for an added one */
		const void *note;   /* for the caller to set and use */
	} * args;
	unsigned num_args, cap;

	/* where more arguments can be written: the end of args, or where that may stand; see has_args */
	const char *args_end;
	bool has_args;
};

/*
 * Takes the line apart into l, which begins as all zero and is used again for the next line. Returns NULL,
 * or why it is not a trace line.
 */
const char *traceline_parse(struct traceline *l, struct slice line);

/* An argument more, behind those of the line; its note is to be set. NULL when there is no memory. */
struct traceline_arg *traceline_add_arg(struct traceline *l, struct slice key);

/* The number that an argument's value is: "0x…" or an unsigned integer. False when it is none. */
bool traceline_number(struct slice value, uint64_t *number);

/*
 * The nanoseconds of a time as it is written: microseconds with three decimals, or any other form of JSON's
 * numbers, rounded. False when it is negative or does not fit 64 bits.
 */
bool traceline_ns(struct slice us, uint64_t *ns);

void traceline_free(struct traceline *l);

#endif
