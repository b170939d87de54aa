/* SPDX-License-Identifier: BSD-3-Clause */
/* Mends the snapshot of a trace that an application was writing to while it was taken. */
#ifndef TRACE_DUMP_SETTLE_H
#define TRACE_DUMP_SETTLE_H

struct input;
struct trace;

/*
 * Takes the slots again that were written since, until a ring has stood still or several tries have gone; and
 * takes those entries out that are being overwritten. The data must be a snapshot. What did not change
 * stays as it is: a trace that nobody writes to comes out unchanged.
 */
void settle_rings(struct trace *t, struct input *in);

#endif
