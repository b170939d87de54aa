/* SPDX-License-Identifier: BSD-3-Clause */
/* ipcsnoop's counts of system calls. */
#pragma once

#include "out.h"
#include "bpf/ipcsnoop.h"

/* Adds the counts of each CPU, NUM_CALLS entries, to sums. */
void counts_sum(struct count sums[NUM_CALLS], const struct count *counts, int cpus);

/* Writes the calls that were made as bpftrace prints maps, the largest values last. */
void counts_text(struct out *out, const struct count sums[NUM_CALLS]);

/* Writes a line for each call that was made, the most frequent last. */
void counts_json(struct out *out, const struct count sums[NUM_CALLS]);
