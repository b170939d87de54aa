/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a snapshot consistent that was copied while an application wrote to the trace.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdint.h>

struct input;
struct trace;
struct trace_lcore;

/*
 * Copies again the slots that were written since, until a ring no longer changes, a few times at
 * most; then drops the entries that are being overwritten. The snapshot of a trace that no process
 * writes to stays unchanged. Afterwards next_entry of each ring is the end of its snapshot.
 */
void snapshot_update(const struct trace *t, struct input *in);

/* Copies the slots with these numbers again; they are counted as in next_entry. */
void snapshot_refresh(struct input *in, const struct trace_lcore *lcore, uint64_t from, uint64_t to);

#endif
