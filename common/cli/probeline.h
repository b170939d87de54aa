/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grammar of probe lines and lifetime lines (spdk-trace-lines(7)): NAME: key=value,
 * key='string'.
 *
 * Two forms are read. In the escaped one, which this project writes, backslash, quote, control
 * bytes and bytes that are not valid UTF-8 are written in strings as \\ \' \n \xHH. bpftrace prints
 * strings as they are. So a string ends only at a quote followed by ", KEY=" or by the end of the
 * line, and a backslash that starts no escape sequence is a plain backslash.
 */
#pragma once

#include <stdint.h>

#include "slice.h"

struct probeline_field {
	struct slice key;
	struct slice value; /* of a string: what is between its quotes, still escaped */
	bool quoted;
};

/* Cuts the name off the line; the fields remain. False if the line has another form. */
bool probeline_name(struct slice *line, struct slice *name);

/*
 * Cuts the next field off rest. Returns 1; 0 when there is none; -1 with what is wrong in *error.
 */
int probeline_next(struct slice *rest, struct probeline_field *field, const char **error);

/*
 * Reads the fields of these n names, of several of one name the last; key.p of a missing one is NULL. Returns NULL, or
 * what is wrong with the field that ended the reading.
 */
const char *probeline_fields(struct slice rest, const char *const *names, size_t n, struct probeline_field *fields);

/* Whether a field is there, and is a number. */
bool probeline_number(const struct probeline_field *field, uint64_t *number);

/* The decoded value with a NUL after it. The caller frees its p. */
struct slice probeline_decode(struct slice value);

/* Writes the bytes escaped, PROBELINE_ESCAPED(n) bytes at most; returns the end. */
#define PROBELINE_ESCAPED(n) (4 * (n))
char *probeline_escape(char *to, struct slice bytes);
