/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grammar of probe lines and lifetime lines (spdk-trace-lines(7)): NAME: key=value, key='string'.
 *
 * Two forms are read. In the escaped one, which this project writes, backslash, quote, control bytes and
 * bytes that are not valid UTF-8 stand in strings as \\ \' \n \xHH. bpftrace prints strings as they are;
 * so a string ends only at a quote with ", KEY=" or the line's end behind it, and a backslash that begins
 * no escape sequence is itself.
 */
#ifndef PROBELINE_H
#define PROBELINE_H

#include "slice.h"

struct probeline_field {
	struct slice key;
	struct slice value; /* of a string: what is between its quotes, still escaped */
	bool quoted;
};

/* Splits the name off the line, which keeps the fields. False when the line is not of this form. */
bool probeline_name(struct slice *line, struct slice *name);

/* Takes the next field off rest. Returns 1; 0 when there is none; -1 with what is wrong in *error. */
int probeline_next(struct slice *rest, struct probeline_field *field, const char **error);

/* Decodes a string's value into to, which has room for value.n bytes; returns the number written. */
size_t probeline_unescape(char *to, struct slice value);

/* Writes the bytes in escaped form without quotes, PROBELINE_ESCAPED(n) bytes at most; returns the end. */
#define PROBELINE_ESCAPED(n) (4 * (n))
char *probeline_escape(char *to, struct slice bytes);

#endif
