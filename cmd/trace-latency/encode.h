/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The encoded lines of trace-latency, which it writes with -e, and reads with --merge and for
 * --against:
 *
 *	{"group":{…},"object":"r","from":"A","to":"B","family":"TCP"}<TAB>
 *	{"unit":"ns","count":…,"sum":…,"max":…,"counts":[[value,n],…]}
 *
 * in one line. A tab ends the key, as MapReduce expects. A value is the lowest of its bucket, so a reader can
 * check that the buckets are the same as its own.
 */
#pragma once

#include "out.h"
#include "rows.h"

/* Writes the rows that have values, in the order of sort(1) in the C locale. */
void encode_write(struct out *out, const struct rows *rows);

/*
 * Adds the encoded lines of a file to rows; skips malformed ones, after a message. reader: the
 * command that reads such lines from a pipe, for messages. *read: how many lines the file had.
 * Returns 0, or -1 after a message. A file that cannot be opened, or is of another kind, ends the
 * tool.
 */
int encode_read(struct rows *rows, const char *path, const char *reader, uint64_t *read);
