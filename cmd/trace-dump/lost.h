/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the parts of a trace that are on unreadable pages of its file. */
#ifndef TRACE_DUMP_LOST_H
#define TRACE_DUMP_LOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct out;
struct trace;

/*
 * Describes the next such pages from the position *at on: where they are, what is on them, and the error of reading
 * them. Sets *at to their end, and adds their slots to *slots. False when there are no more.
 */
bool lost_next(const struct trace *t, const struct input *in, size_t *at, struct out *text, uint64_t *slots);

/* Reports all of them on stderr for the trace of this name. Returns whether there are any. */
bool lost_report(const struct trace *t, const struct input *in, const char *name);

#endif
