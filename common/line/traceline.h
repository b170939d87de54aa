/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One trace line (spdk-trace-lines(7)), parsed, or what the line of an entry would have: common/read/line.h. All slices
 * point into the line. Keys may come in any order; the order of trace-dump is parsed fastest.
 */
#pragma once

#include <stdint.h>

#include "slice.h"

struct traceline {
	uint64_t tsc;
	uint64_t ns;     /* see traceline_time() */
	uint64_t age_ns; /* see traceline_age() */
	bool has_ns;     /* ns is set: the line is in the form of trace-dump, without escapes in its strings */
	bool has_age;    /* the object was created before */
	bool torn;       /* arguments are missing */
	bool lost;       /* entries of the lcore are missing before this one */
	struct slice us, lcore, size, object_us; /* numbers as written; p is NULL if missing */
	/* strings as written between their quotes; p is NULL if missing */
	struct slice source, time, thread, tpoint, poller, owner, object_id, related;
	uint64_t object_value;

	/* whether the line has "args", and where it ends; or where it can be inserted */
	bool has_args;
	const char *args_end;

	size_t num_args;
	struct traceline_arg {
		struct slice key;   /* as written between its quotes */
		struct slice value; /* as written, with its quotes; p is NULL for an added one */
		const void *note;   /* the caller's; traceline_parse() does not set it */
	} * args;
	size_t cap;
	struct traceline_known *known; /* used by traceline.c */
};

/*
 * Parses the line into l, which is all zero before the first line and reused for the next ones.
 * Returns NULL, or why it is not a trace line.
 */
const char *traceline_parse(struct traceline *l, struct slice line);

/*
 * For tools that pass lines on: only tsc, us and source are valid then, and little of the rest is checked. False if the
 * line is not in the form of trace-dump.
 */
bool traceline_parse_head(struct traceline *l, struct slice line);

/* Adds an argument after those of the line. */
void traceline_add_arg(struct traceline *l, struct slice key, const void *note);

/* The value of the first argument with this key, as written; p is NULL without one. */
static inline struct slice traceline_value(const struct traceline *l, struct slice key)
{
	for (size_t i = 0; i < l->num_args; i++)
		if (slice_equal(l->args[i].key, key))
			return l->args[i].value;
	return (struct slice){};
}

/* The same; a literal costs no call. */
static inline struct slice traceline_arg(const struct traceline *l, const char *key)
{
	return traceline_value(l, slice_of(key));
}

/* The value of a string without its quotes; empty for any other value. */
struct slice traceline_string(struct slice value);

/* The value of an argument that is a number: "0x…" or an unsigned integer. False if it is not one. */
bool traceline_number(struct slice value, uint64_t *number);

/*
 * The nanoseconds of a time as written: microseconds with three decimals, or a JSON number of any
 * other form, rounded. Returns NULL, or a message if it is negative or does not fit 64 bits.
 */
const char *traceline_ns(struct slice us, uint64_t *ns);

/* The time of the line in nanoseconds. Returns NULL, or what is wrong with it. */
static inline const char *traceline_time(const struct traceline *l, uint64_t *ns)
{
	if (!l->has_ns)
		return traceline_ns(l->us, ns);
	*ns = l->ns;
	return NULL;
}

/* The same for the time since the object's creation, if it has an age. */
const char *traceline_age(const struct traceline *l, uint64_t *ns);

/*
 * Mixes an address, or another number that is unique within a trace, with the line's source: as keys of a map, equal
 * numbers of different sources differ.
 */
uint64_t traceline_in_source(const struct traceline *l, uint64_t number);

void traceline_free(struct traceline *l);
