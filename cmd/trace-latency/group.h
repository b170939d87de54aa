/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of trace-latency: a JSON object that has the values of the keys that -g names. */
#ifndef TRACE_LATENCY_GROUP_H
#define TRACE_LATENCY_GROUP_H

#include "lift.h"
#include "out.h"
#include "slice.h"
#include "traceline.h"

/* Bytes: a group may be passed on from object to related object, each in a group of its own. */
enum { GROUP_MAX = 4 << 10 };

struct group_key {
	const char *name;   /* with dots between the keys of objects in objects: args.qpair.hostnqn */
	enum lift_key lift; /* what it is of a span that has no such key in its lines; LIFT_KEYS: nothing */
	bool found;         /* a line so far had it */
};

struct group {
	struct group_key *keys;
	size_t n, cap;
	struct out text; /* the group made last; OUT_MEMORY at first */
};

/* The name must outlive the group. */
void group_add_key(struct group *group, const char *name);

/* Whether a key is about what an I/O was, which its first line alone does not tell. */
bool group_is_lifted(const struct group *group);

/*
 * The group of a trace line, given as taken apart and as text: the empty text without keys. A key
 * that the line does not have is taken from the group of the related object, which may be empty,
 * else it is null. The text is valid until the next call.
 */
struct slice group_of(struct group *group, const struct traceline *line, struct slice text, struct slice related);

/*
 * The group of a span, by that of its first line: a key that this does not have is taken from what
 * the span was, else from the group of its parent, which may be empty. The text is valid until the
 * next call.
 */
struct slice group_of_span(struct group *group, struct slice line, const struct lift *lift, struct slice parent);

#endif
