/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the probes that tell of qpairs, and the lifetime lines that are made of them. */
#ifndef QPAIR_LIFETIMES_EVENT_H
#define QPAIR_LIFETIMES_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct out;
struct owner;

struct event {
	enum probe { ADD, REMOVE, CONNECT } probe;
	size_t line; /* orders events with equal ticks */
	uint64_t tsc, qpair, thread, qid;
	/* still escaped; in one block that the first one begins */
	struct slice subnqn, hostnqn;
};

struct lifetime {
	const struct event *begin, *end, *connect; /* the last two may be NULL */
	bool doubtful; /* lines are missing: its end or its names may be those of another */
	const struct owner *owner; /* may be NULL */
};

/* Copies the names. A lack of memory, here and below, ends the tool. */
void event_keep_names(struct event *e, struct slice subnqn, struct slice hostnqn);

/* A copy of the name as it is, to be freed. */
struct slice event_plain_name(struct slice value);

/* Whether two connects are of the same host to the same subsystem and queue. */
bool event_same_host(const struct event *a, const struct event *b);

void event_free(struct event *e);

/* Writes the lifetime line. */
void lifetime_write(struct out *out, const struct lifetime *l);

#endif
