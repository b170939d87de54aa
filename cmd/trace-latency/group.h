/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of trace-latency: a JSON object that has the values of the keys that -g names. */
#ifndef TRACE_LATENCY_GROUP_H
#define TRACE_LATENCY_GROUP_H

#include "out.h"
#include "slice.h"
#include "traceline.h"

struct group_key {
	const char *name; /* with dots between the keys of objects in objects: args.qpair.hostnqn */
	bool found;       /* a line so far had it */
};

struct group {
	struct group_key *keys;
	size_t n, cap;
	struct out text; /* the group made last; OUT_MEMORY at first */
};

/*
 * The group of a trace line, given as taken apart and as text: the empty text without keys. A key
 * that the line does not have is taken from the group of the related object, which may be empty,
 * else it is null. The text is valid until the next call.
 */
struct slice group_of(struct group *group, const struct traceline *line, struct slice text, struct slice related);

#endif
