/* SPDX-License-Identifier: BSD-3-Clause */
/* Mends the snapshot of a trace that an application was writing to while it was taken. */
#ifndef TRACE_DUMP_SETTLE_H
#define TRACE_DUMP_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

struct input;
struct trace;
struct trace_lcore;

/*
 * Takes the slots again that were written since, until a ring has stood still or several tries have gone; and
 * takes those entries out that are being overwritten. The data must be a snapshot. What did not change
 * stays as it is: a trace that nobody writes to comes out unchanged. Then the next_entry of each ring says how far
 * the snapshot goes.
 */
void settle_rings(struct trace *t, struct input *in);

/* Takes the slots with these numbers, counted as next_entry does, into the snapshot. */
void settle_take(struct input *in, const struct trace_lcore *lcore, uint64_t from, uint64_t to);

/* How many slots the largest entry takes: so many behind next_entry may be being overwritten. */
unsigned settle_largest(const struct trace *t);

#endif
