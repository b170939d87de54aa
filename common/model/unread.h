/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates how long requests waited in their sockets before the reactor read them, which is where the trace begins. A
 * reactor that is off its CPU reads nothing meanwhile, so those that suffer most look as fast as ever.
 *
 * While the reactor of a connection is away from B to E, its requests are taken to come as often as before: the k-th
 * one at B + (k - 1/2) / rate, but not after E. It was in the socket if
 * - it is read right after E, and these are read at least twice as often as usually, as what is read at once is;
 * - and before a reply to one of them, since a host may send another request when it has that.
 * So waits are missed rather than invented.
 */
#pragma once

#include "spans.h"

enum {
	UNREAD_AWAY_NS = 1000 * 1000, /* an absence is at least so long: less is within the usual time to a reply */
	UNREAD_USUAL = 8,             /* requests of a connection before its rate is known */
};

/* All zero at first, except for spans. Memory grows with connections, and with spans that are open at a time. */
struct unread {
	const struct spans *spans;
	struct unread_connection {
		uint64_t first, last, n; /* ns of the first and the latest request, and their number */
		/* the latest absence that its requests may have waited for, and their number since */
		uint64_t away_end, since;
		double apart; /* ns from one request to the next before that, on average */
		bool over;    /* the requests that were in its socket then have begun */
	} * connections;
	size_t num_connections, cap_connections;
	/* of each span, by its index */
	struct unread_wait {
		uint64_t ns;
		uint32_t cause; /* of the reactor's interval */
	} * waits;
	size_t num_waits, cap_waits;
};

/* Sees an entry of a request, whose connection is set. is_first: its first one. */
void unread_see(struct unread *u, const struct span *s, bool is_first);

/* The estimate, in ns, and the cause of the reactor's absence; 0 ns: none is known. */
struct unread_wait unread_of(const struct unread *u, const struct span *s);

void unread_free(struct unread *u);
