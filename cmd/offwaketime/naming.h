/* SPDX-License-Identifier: BSD-3-Clause */
/* The pair of stacks of an event, by names. */
#ifndef OFFWAKETIME_NAMING_H
#define OFFWAKETIME_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "demangle.h"
#include "intern.h"
#include "map.h"
#include "pairs.h"
#include "processes.h"
#include "symbols.h"
#include "bpf/offwaketime.h"

/* All zero but for the flags is empty. */
struct naming {
	bool no_ids;           /* threads are known by their names only */
	bool no_kernel_stacks; /* those of wakers are recorded all the same, as they show interrupts */
	struct symbols kernel;
	struct processes processes;
	struct demangler demangler;
	struct intern names;
	struct map kernel_names; /* numbers of names, by address */
};

/*
 * Writes the pair of this event, without the functions of the BPF program, without the stack that an interrupt
 * interrupted, if that was the waker, and without frames at which no code is mapped. Returns the time, in ms of the
 * clock, until which an equal event has the same names.
 */
uint64_t naming_pair(struct naming *n, const struct stacks *e, struct pair *pair);

/* The name with this number, as a pair has it. */
const char *naming_text(const struct naming *n, uint32_t number);

void naming_free(struct naming *n);

#endif
