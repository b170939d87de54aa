/* SPDX-License-Identifier: BSD-3-Clause */
/* What a target says of itself by JSON-RPC: its settings, connections and counters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "rpc.h"

/* The most bytes of this in a recording of at most max_size. */
uint64_t state_max(uint64_t max_size);

/*
 * Writes a line for each method that only reads: at the start of a recording all, at its end those whose results
 * change. max: of out, in bytes. Returns NULL, or why the rest is missing.
 */
const char *state_write(struct rpc *rpc, bool at_start, struct out *out, uint64_t max);

/* The names of the tracepoint groups that are off, with commas between. Not known: NULL. The caller frees it. */
char *state_groups_off(struct rpc *rpc);
