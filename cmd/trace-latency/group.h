/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of trace-latency: JSON objects of the keys that -g names, and their values for an object. */
#ifndef TRACE_LATENCY_GROUP_H
#define TRACE_LATENCY_GROUP_H

#include "connection.h"
#include "intern.h"
#include "request_io.h"
#include "out.h"
#include "slice.h"
#include "traceline.h"

/* Bytes of a group: a long value is part of the groups of all objects below its own. */
enum { GROUP_MAX = 4 << 10 };

struct group_key {
	const char *name;       /* with dots between the keys of objects in objects: args.qpair.hostnqn */
	enum request_io_key io; /* used for a span that has no such key in its first line; REQUEST_IO_KEYS: none */
	bool host;              /* the NQN of the line's host, else the name of its connection */
	bool found;             /* an object so far had it */
};

struct group {
	struct group_key *keys;
	size_t n;
	bool has_io;          /* some keys may be in request_io.h */
	struct intern *texts; /* of all groups; the only one is empty if there are no keys */
	uint32_t max;         /* number of them */
	struct request_io io;
	struct connections connections; /* used if a key is host */
	struct out text;                /* of the latest one */
};

/* The names and texts must outlive the group. */
void group_start(struct group *group, const char *const *names, size_t n, struct intern *texts, uint32_t max);

/*
 * The number of an object's group as far as its first line has the keys, given parsed and as text. MAP_NONE if it is
 * too long, or there are too many; here and below.
 */
uint32_t group_of_line(struct group *group, const struct traceline *line, struct slice text);

/*
 * The number of a span's group. The value of a key is that in the group of its first line, unless it is null there;
 * else that in request_io.h, else that in the group of its parent, which may be MAP_NONE.
 */
uint32_t group_of_span(struct group *group, const struct spans *spans, const struct span *s, uint32_t of_line,
		       uint32_t parent);

void group_free(struct group *group);

#endif
