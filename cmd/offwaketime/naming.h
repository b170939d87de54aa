/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the names of the functions in the stacks of an event. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "intern.h"
#include "map.h"
#include "pairs.h"
#include "processes.h"
#include "symbols.h"
#include "bpf/offwaketime.h"

/* At first all zero, except the flags. */
struct naming {
	bool no_ids;           /* threads are identified by their names only */
	bool no_kernel_stacks; /* those of wakers are still recorded, because they show interrupts */
	struct symbols kernel;
	struct processes processes;
	struct intern names;
	struct map kernel_names; /* numbers of names, by address */
};

/*
 * Writes the pair of this event. Left out are the functions of the BPF program, frames at which no code is mapped, and,
 * if the waker was an interrupt, the stack that it interrupted. Returns the time, in ms of the clock, until which an
 * equal event has the same names.
 */
uint64_t naming_pair(struct naming *n, const struct stacks *e, struct pair *pair);

/* The name with this number, as a pair has it. */
const char *naming_text(const struct naming *n, uint32_t number);

void naming_free(struct naming *n);
