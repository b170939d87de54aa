/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of spans by keys: JSON objects of the keys and their values. A key is that of the line that starts a span,
 * one of request_io.h, or "host".
 */
#ifndef GROUP_H
#define GROUP_H

#include "connection.h"
#include "intern.h"
#include "out.h"
#include "request_io.h"

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
	bool any;             /* group_see() was called */
	bool has_io;          /* some keys may be in request_io.h */
	struct intern *texts; /* of all groups; the only one is empty if there are no keys */
	uint32_t max;         /* number of them */
	struct intern values; /* of keys, as JSON */
	/* numbers of values, one for each key, MAP_NONE: null; of one key the tuple is that number plus 1 */
	struct intern tuples;
	uint32_t *text_of; /* by tuple: its number in texts plus 1; 0: not made so far */
	size_t num_texts, cap_texts;
	struct request_io io;
	uint32_t *tuple; /* scratch, as is this: */
	struct out scratch;
};

/* The names and texts must outlive the group. */
void group_start(struct group *group, const char *const *names, size_t n, struct intern *texts, uint32_t max);

/*
 * Keeps the values of keys in the first line of a span, given parsed and as text, in s->group. s->connection is set.
 * Not needed without keys.
 */
void group_see(struct group *group, struct connections *connections, struct span *s, const struct traceline *line,
	       struct slice text);

/*
 * The number of the group of a span that has ended, in texts; MAP_NONE if that is too long, or there are too many. The
 * value of a key is that in its first line, else that in request_io.h, else that of the span above it. It becomes
 * `above` of the children.
 */
uint32_t group_of(struct group *group, const struct spans *spans, const struct span *s);

void group_free(struct group *group);

#endif
