/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which request is which command, where a process is its own remote subsystem: both are in one trace. The request
 * becomes a child of the command.
 *
 * A connection keeps the order of its commands, so the numbers of commands and requests, each in its queue, differ by
 * a constant. That is known once REMOTE_VOTES requests of one connection in a row say the same, each of them one of
 *
 *	its I/O has the type, address and length of a command in flight, and is no part of it
 *	it is the first one of a connection, and a command in flight connects; this counts for two
 *	it is the first one since its queue was empty before the command that is expected
 *
 * It is known no more when an I/O has another address, times contradict it, or entries are missing. What several
 * commands fit says nothing, unless one of them is expected.
 *
 * Commands are those of NVMe/TCP. Where the trace has none, as over RDMA, they are I/Os of an NVMe bdev on an lcore
 * that start nothing in the trace. Requests are those of connections with one address at both ends, as far as these are
 * known.
 */
#pragma once

#include "intern.h"
#include "span.h"

struct spans;

enum {
	REMOTE_VOTES = 3,
	REMOTE_KEPT = 1024, /* of each queue, the latest ones */
	REMOTE_PLACES = 4096,
	REMOTE_PDUS = 4, /* latest commands, by which the distance of two PDUs is found */
};

/* Commands, or the requests of a connection. Numbers count modulo 2^32. */
struct remote_queue {
	struct remote_io {
		uint64_t what;              /* type, address and length; 0: not known */
		uint32_t index, generation; /* of its span */
	} * all;                            /* from first to before next: at their numbers modulo cap, a power of two */
	uint32_t first, next, cap;
	uint32_t since;  /* from here on none is missing */
	uint32_t qid;    /* UINT32_MAX: not known */
	uint32_t other;  /* the queue of the other ends; MAP_NONE: not known */
	uint32_t offset; /* of requests: of the number of a command from that of its request */
	/* of commands: the latest votes in a row, the requests and the offset that they are for; and those matched */
	uint32_t votes, voter, voted, matched;
	uint32_t candidate; /* of requests: the queue of commands of their latest vote; MAP_NONE: none so far */
	uint64_t latest;    /* of requests: ns */
	bool is_new;        /* the connection was created, and has no request so far */
	uint64_t gap;       /* as life_gap() had it at the latest one */
};

/* All zero at first. */
struct remote {
	struct remote_queue *queues;
	size_t n, cap;
	struct map commands, bdevs, connections; /* → queue */
	struct intern names;                     /* of bdevs */
	struct remote_place {
		uint64_t what;
		uint32_t queue, number;
		bool crowded;    /* another one that was here is in flight */
	} recent[REMOTE_PLACES]; /* commands by what they are */
	struct remote_pdu {
		uint64_t poller, address, cid;
	} pdus[REMOTE_PDUS];
	unsigned num_pdus;
	uint64_t stride;    /* between the PDUs of a queue; 0: not known */
	int64_t lead;       /* of votes for it */
	uint64_t ambiguous; /* requests that several commands of NVMe/TCP fit */
};

/* Sees that a connection is created. */
void remote_connect(struct remote *r, const struct traceline *line);

/* Sees a span with its first entry, which has a parent if that is known. */
void remote_see(struct spans *spans, struct span *s, const struct traceline *line);

/* Sees that a span has ended: a command whose request has not replied was none of it. */
void remote_end(struct spans *spans, const struct span *command);

/* The commands without a request, of queues that have some with one. */
uint64_t remote_unmatched(const struct remote *r);

void remote_free(struct remote *r);
