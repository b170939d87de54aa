/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of trace-dump -O: the owners of a trace. */
#ifndef TRACE_DUMP_OWNERS_H
#define TRACE_DUMP_OWNERS_H

#include <stdbool.h>

struct out;
struct reader;
struct rings;

/* Writes the registered owners, with their connections. */
void owners_write(struct out *out, const struct reader *r);

/*
 * Writes each owner that is registered or changes from now on, until rings_have_ended(). Returns false, after a
 * message, if it could not follow them until then.
 */
bool owners_follow(struct out *out, const struct reader *r, const struct rings *rings, const char *name);

#endif
