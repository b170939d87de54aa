/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a snapshot consistent that was copied while an application wrote to the trace.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct input;
struct trace;
struct trace_lcore;

/*
 * Copies again the slots that were written since, until a ring no longer changes, a few times at
 * most; then drops the entries that are being overwritten, also where the writer stands still in the middle of one.
 * Afterwards next_entry of each ring is the end of its snapshot.
 */
void snapshot_update(const struct trace *t, struct input *in);

/*
 * Whether the application is writing an entry at number next, which has at most so many slots: it overwrites the oldest
 * ones before it moves next_entry.
 */
bool snapshot_is_within_entry(const struct input *in, const struct trace_lcore *lcore, uint64_t next, unsigned largest);

/* Copies the slots with these numbers again; they are counted as in next_entry. */
void snapshot_refresh(struct input *in, const struct trace_lcore *lcore, uint64_t from, uint64_t to);
