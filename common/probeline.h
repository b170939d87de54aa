/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grammar of probe lines and lifetime lines (spdk-trace-lines(7)): NAME: key=value,
 * key='string'.
 *
 * Two forms are read. In the escaped one, which this project writes, backslash, quote, control
 * bytes and bytes that are not valid UTF-8 are written in strings as \\ \' \n \xHH. bpftrace prints
 * strings as they are; so a string ends only at a quote that ", KEY=" or the end of the line
 * follows, and a backslash that starts no escape sequence stands for itself.
 */
#ifndef PROBELINE_H
#define PROBELINE_H

#include "slice.h"

struct probeline_field {
	struct slice key;
	struct slice value; /* of a string: what is between its quotes, still escaped */
	bool quoted;
};

/* Cuts the name off the line, which keeps the fields. False when the line is not of this form. */
bool probeline_name(struct slice *line, struct slice *name);

/*
 * Cuts the next field off rest. Returns 1; 0 when there is none; -1 with what is wrong in *error.
 */
int probeline_next(struct slice *rest, struct probeline_field *field, const char **error);

/* The decoded value with a NUL after it; its p is freed. */
struct slice probeline_decode(struct slice value);

/* Writes the bytes escaped, PROBELINE_ESCAPED(n) bytes at most; returns the end. */
#define PROBELINE_ESCAPED(n) (4 * (n))
char *probeline_escape(char *to, struct slice bytes);

#endif
