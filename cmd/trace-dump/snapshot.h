/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the snapshot of a trace consistent that an application was writing to while it was copied.
 */
#ifndef TRACE_DUMP_SNAPSHOT_H
#define TRACE_DUMP_SNAPSHOT_H

#include <stdint.h>

struct input;
struct trace;
struct trace_lcore;

/*
 * Copies the slots again that were written since, until a ring no longer changes, a few times at
 * most; then drops the entries that are being overwritten. What did not change stays as it is, so
 * the snapshot of a trace that nobody writes to comes out unchanged. Afterwards next_entry of each
 * ring says how far the snapshot goes.
 */
void snapshot_update(const struct trace *t, struct input *in);

/* Copies the slots with these numbers, counted as next_entry does, again. */
void snapshot_refresh(struct input *in, const struct trace_lcore *lcore, uint64_t from, uint64_t to);

#endif
