/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of spans by keys: JSON objects of the keys and their values. A key is a path of spanline.h, about what
 * spanfill.h sets.
 */
#pragma once

#include "spanfill.h"

/* Bytes of a group: a long value is part of the groups of all objects below its own. */
enum { GROUP_MAX = 4 << 10 };

struct group_key {
	struct slice name, head; /* head: it in JSON, with a colon */
	bool host;               /* the NQN of the host, whose name may change, else its name */
	bool found;              /* an object so far had it */
};

struct group {
	struct group_key *keys;
	size_t n;
	bool any;             /* there was a span */
	bool has_io;          /* some keys are of io */
	struct intern *texts; /* of all groups; the only one is empty if there are no keys */
	uint32_t max;         /* number of them */
	struct spanfill fill; /* of the latest span; sums.c's as well */
	struct out text, scratch;
};

/* The names and texts must outlive the group. */
void group_start(struct group *group, const char *const *names, size_t n, struct intern *texts, uint32_t max);

/*
 * The number of the group of a span that has ended, in texts; MAP_NONE if that is too long, or there are too many. What
 * a span does not say is that of the span above it, which is in s->above, and its own becomes that of its children.
 * Both s->above, MAP_NONE, and s->connection are set when a span starts.
 */
uint32_t group_of(struct group *group, struct connections *connections, const struct spans *spans,
		  const struct span *s);

void group_free(struct group *group);
