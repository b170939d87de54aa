/* SPDX-License-Identifier: BSD-3-Clause */
/* The spans that -k selects, by the values of keys in their span lines. */
#pragma once

#include "measured.h"

struct keys {
	struct keys_glob {
		struct slice path; /* with dots between the keys of objects in objects */
		const char *glob;
		bool found; /* a span had this key */
	} * all;
	size_t n, cap;
	uint64_t compared, matched; /* spans */
	struct out text;            /* a value that is compared */
};

/* Adds KEY=GLOB, which must outlive k. Returns NULL, or what is wrong with it. */
const char *keys_add(struct keys *k, const char *text);

/* The first KEY=GLOB whose key no span so far has; NULL: there is none. */
const char *keys_missing(const struct keys *k);

/* Whether a span has all of them: that of a line, or the latest one of measured_span(). */
bool keys_match_line(struct keys *k, struct slice line);
bool keys_match(struct keys *k, struct measured *m);

/* The value of a key in a line, as JSON; empty if it has none. Keys of io are also found without "io." before them. */
struct slice keys_value(struct slice line, struct slice path);

void keys_free(struct keys *k);
