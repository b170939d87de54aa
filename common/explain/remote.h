/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which I/O of a bdev is which request, where the process is its own remote subsystem: both are in one trace. A
 * connection keeps the order of its commands, and each I/O of such a bdev comes back, while it is in flight, as a
 * request of one connection with the same type, address and length.
 */
#pragma once

#include "spans.h"

enum { REMOTE_RECENT = 4096 };

/* The I/O of a bdev on an lcore, which has a queue of its own. */
struct remote_queue {
	uint32_t bdev;       /* in remote.bdevs */
	uint32_t connection; /* of the latest request that was an I/O of it; MAP_NONE: there was none */
	uint64_t ios, found; /* its I/Os, and those that were requests of that connection */
	uint64_t n;          /* in flight */
	uint64_t unseen;     /* besides, as SPDK counted when the latest one came: they have started before the trace */
	bool passes;         /* on to other bdevs */
};

/* All zero at first, but for spans. */
struct remote {
	struct spans *spans;
	struct intern bdevs;
	struct remote_queue *queues;
	size_t n, cap;
	struct map by_key; /* bdev and lcore → queue */
	struct remote_io {
		uint64_t what; /* type, address and length; 0: none */
		uint32_t queue;
		uint32_t index, generation; /* of its span */
	} recent[REMOTE_RECENT];            /* in flight */
};

/* The queue of a bdev I/O. */
uint32_t remote_queue(struct remote *r, const struct span *io);

/* Sees a bdev I/O that starts, or ends. Returns the I/O in flight that its request is; NULL: none is known. */
const struct span *remote_see(struct remote *r, const struct span *io, bool ends);

/* An I/O or a request in flight; match: the other one, set by remote_match(). */
struct remote_end {
	const struct span *span;
	uint64_t what;  /* 0: it is not known so far */
	uint32_t queue; /* or connection */
	uint32_t node;  /* the caller's */
	uint32_t match; /* its node; MAP_NONE: it is not known */
	bool is_sent;   /* an I/O whose command is in the trace */
};

uint64_t remote_what(const struct span *io);

/* Matches those that can be no others; sorts both. */
void remote_match(const struct remote *r, struct remote_end *ios, size_t n, struct remote_end *requests, size_t m);

void remote_free(struct remote *r);
