/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that -k selects, by the values of keys in their lines. */
#ifndef TRACE_CAUSES_KEYS_H
#define TRACE_CAUSES_KEYS_H

#include "out.h"

struct keys {
	struct keys_glob {
		struct slice path; /* with dots between the keys of objects in objects */
		const char *glob;
		bool found; /* a line had this key */
	} * all;
	size_t n, cap;
	uint64_t matched; /* lines */
	struct out text;  /* a value that is compared */
};

/* Adds KEY=GLOB. False if the text has another form. The text must outlive k. */
bool keys_add(struct keys *k, const char *text);

/* Whether a line has all of them. */
bool keys_match(struct keys *k, struct slice line);

/* The value of a key in a line, a string as it is written between its quotes; empty if it has none. */
struct slice keys_value(struct slice line, struct slice path);

/* Whether some line matched, of n; prints a message if not. */
bool keys_check(const struct keys *k, const char *name, uint64_t n);

void keys_free(struct keys *k);

#endif
