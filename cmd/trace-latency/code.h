/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The encoded lines of trace-latency, which it writes with -e, and reads with --merge and for --against:
 *
 *	{"group":{…},"object":"r","from":"A","to":"B"}<TAB>{"unit":"ns","count":…,"sum":…,"max":…,"counts":[[value,n],…]}
 *
 * A tab ends the key, as MapReduce wants it. A value is the lowest of its bucket, which is how a reader knows
 * that the buckets are its own.
 */
#ifndef TRACE_LATENCY_CODE_H
#define TRACE_LATENCY_CODE_H

#include "out.h"
#include "rows.h"

/* Writes the rows that have values, ordered by the bytes of their lines, which is sort(1)'s order in the C locale. */
void code_write(struct out *out, const struct rows *rows);

/*
 * Adds the encoded lines of a file to rows; complains about malformed ones and leaves them out. Returns 0, or -1
 * when there was something to complain about. A file that cannot be opened, or is of another kind, ends the tool.
 * reader: the command that reads such lines from a pipe, for that message.
 */
int code_read(struct rows *rows, const char *path, const char *reader);

/* What a row is about, as members of a JSON object: "group":{…},"object":"r","from":"A","to":"B". */
void code_write_key(struct out *out, const struct rows *rows, const struct row *row);

#endif
