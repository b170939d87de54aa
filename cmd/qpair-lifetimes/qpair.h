/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the probes about qpairs, and the lifetime lines that are made of them. */
#ifndef QPAIR_LIFETIMES_QPAIR_H
#define QPAIR_LIFETIMES_QPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct out;
struct owner;

struct qpair_event {
	enum qpair_probe { ADD, REMOVE, CONNECT } probe;
	size_t line; /* orders events with equal ticks */
	uint64_t tsc, qpair, thread, qid;
	struct slice subnqn, hostnqn; /* escaped; see qpair_keep_names() */
};

struct qpair {
	const struct qpair_event *begin, *end, *connect; /* the last two may be NULL */
	bool unreliable;           /* lines are missing: its end or its names may be another qpair's */
	const struct owner *owner; /* may be NULL */
};

/*
 * Copies the names into the event, in one block that starts with subnqn. They are escaped here, and not when they are
 * printed, because many lifetimes can have the same connect.
 */
void qpair_keep_names(struct qpair_event *e, struct slice subnqn, struct slice hostnqn);

void qpair_free_names(struct qpair_event *e);

/* Whether two connects are of the same host to the same subsystem and queue. */
bool qpair_same_host(const struct qpair_event *a, const struct qpair_event *b);

/* Writes the lifetime line. */
void qpair_write(struct out *out, const struct qpair *q);

#endif
