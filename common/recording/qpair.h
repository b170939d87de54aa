/* SPDX-License-Identifier: BSD-3-Clause */
/* Qpairs, the events of the probes about them, and their lifetime lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct out;

/* A host's connection to a qpair. Many qpairs can have the same one. */
struct qpair_connect {
	uint64_t tsc, qid;
	uint32_t users;
	uint32_t subnqn, hostnqn; /* their lengths */
	char text[];              /* both, escaped */
};

struct qpair_event {
	enum qpair_probe { ADD, REMOVE, CONNECT } probe;
	size_t line; /* orders events with equal ticks */
	uint64_t tsc, qpair, thread;
	struct qpair_connect *connect; /* NULL for the other probes */
};

struct qpair {
	uint64_t begin, end; /* ticks */
	uint64_t address, thread;
	size_t line;                   /* of its addition */
	struct qpair_connect *connect; /* NULL: none was recorded */
	uint64_t owner;                /* its number; UINT64_MAX: it is not known */
	bool unadded;                  /* known by its owner only: it has no address and thread */
	bool ended;
	bool removed;         /* ended by its removal */
	bool unreliable;      /* lines are missing: its end or its names may be another qpair's */
	bool changed;         /* since its line was written */
	struct qpair *before; /* at the same address, without a removal in between; NULL: none */
	uint64_t came;        /* milliseconds: when the last line about it came */
};

/* With one user. The names are escaped as usdt-record does, whichever recorder wrote them. */
struct qpair_connect *qpair_connect_new(uint64_t tsc, uint64_t qid, struct slice subnqn, struct slice hostnqn);

/* The same with names that are not escaped, of a qpair whose connect no probe has seen. */
struct qpair_connect *qpair_connect_plain(uint64_t qid, struct slice subnqn, struct slice hostnqn);

static inline struct slice qpair_subnqn(const struct qpair_connect *c)
{
	return (struct slice){c->text, c->subnqn};
}

static inline struct slice qpair_hostnqn(const struct qpair_connect *c)
{
	return (struct slice){c->text + c->subnqn, c->hostnqn};
}

/* The same with one more user. */
struct qpair_connect *qpair_connect_share(struct qpair_connect *c);

/* Drops a user; NULL has none. */
void qpair_connect_drop(struct qpair_connect *c);

/* Whether two connects are of the same host to the same subsystem and queue. */
bool qpair_same_host(const struct qpair_connect *a, const struct qpair_connect *b);

/* Writes the lifetime line. */
void qpair_write(struct out *out, const struct qpair *q);
