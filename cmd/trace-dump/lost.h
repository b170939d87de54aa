/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a trace is on pages of its file that could not be read. */
#ifndef TRACE_DUMP_LOST_H
#define TRACE_DUMP_LOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct out;
struct trace;

/*
 * Writes to text where the next such pages are, from the position *at on, what was on them and why they could not be
 * read; sets *at to their end, and adds their slots. False when there are none.
 */
bool lost_next(const struct trace *t, const struct input *in, size_t *at, struct out *text, uint64_t *slots);

/* Reports all of them on stderr for the trace of this name. Returns whether there are any. */
bool lost_report(const struct trace *t, const struct input *in, const char *name);

#endif
