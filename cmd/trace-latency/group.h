/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of trace-latency: a JSON object that has the values of the keys that -g names. */
#ifndef TRACE_LATENCY_GROUP_H
#define TRACE_LATENCY_GROUP_H

#include "lift.h"
#include "out.h"
#include "slice.h"
#include "traceline.h"

/* Bytes of a group: a long value is copied from the related object's group into many others. */
enum { GROUP_MAX = 4 << 10 };

struct group_key {
	const char *name;   /* with dots between the keys of objects in objects: args.qpair.hostnqn */
	enum lift_key lift; /* used for a span that has no such key in its lines; LIFT_KEYS: none */
	bool found;         /* a line so far had it */
};

struct group {
	struct group_key *keys;
	size_t n, cap;
	struct out text; /* the latest group; OUT_MEMORY at first */
};

/* The name must outlive the group. */
void group_add_key(struct group *group, const char *name);

/* Whether a key may be a fact about an I/O (see lift.h) that is not in its first line. */
bool group_is_lifted(const struct group *group);

/*
 * The group of a trace line, given parsed and as text. It is empty if there are no keys. The value
 * of a key that the line does not have is that in the group of the related object, which may be
 * empty, else null. The text is valid until the next call.
 */
struct slice group_of(struct group *group, const struct traceline *line, struct slice text, struct slice related);

/*
 * The group of a span. The value of a key is that in the group of the span's first line, unless it
 * is null there; else that in lift, else that in the group of its parent, which may be empty. The
 * text is valid until the next call.
 */
struct slice group_of_span(struct group *group, struct slice line, const struct lift *lift, struct slice parent);

#endif
