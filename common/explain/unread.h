/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates how long requests waited in their sockets before the reactor read them, which is where the trace begins. A
 * reactor that does something else reads nothing meanwhile, so those that suffer most look as fast as ever. It does
 *
 *	off its CPU      as lines of offcpusnoop show
 *	work             in calls that pass requests on, as its entries show
 *	another thread   it wrote nothing for much longer than usual, then read many requests at once; and a thread of
 *	                 SPDK on this lcore, which serves no connection, was busy for as long: as the target says
 *
 * While the reactor of a connection is away from B to E, or reads other ones, its requests are taken to come as often
 * as before: the k-th one at B + (k - 1/2) / rate, but not after E. It was in the socket if
 * - it is read right after E, and these are read at least twice as often as usually, as what is read at once is;
 * - and before a reply to one of them, or to any if the host had as many requests in flight as ever, since it may send
 *   another when it has that.
 * So waits are missed rather than invented.
 */
#pragma once

#include "spans.h"

enum {
	UNREAD_USUAL = 8, /* requests of a connection before its rate is known */
	UNREAD_KEPT = 64, /* absences of an lcore: no host has a request in flight for longer */
};

/* All zero at first, except for spans, and threads with time that they were busy in. */
struct unread {
	const struct spans *spans;
	struct unread_thread {
		uint64_t lcore; /* SPDK's number */
		struct slice name;
		uint64_t ns; /* of it, the time that explains no absence so far */
	} * threads;
	size_t num_threads, cap_threads;
	struct unread_connection {
		uint64_t first, last, n; /* ns of the first and the latest request, and their number */
		/* the latest absence that its requests may have waited for, and their number since */
		uint64_t away_end, since;
		uint64_t from;            /* ns: the start of that, or of its latest request then */
		double apart;             /* ns from one request to the next before that, on average */
		bool over;                /* the requests that were in its socket then have begun */
		uint64_t in_flight, most; /* requests without a reply, and the most so far */
		uint64_t replied;         /* end of the absence after which the latest reply was the first one */
		bool was_full;            /* most were in flight then */
	} * connections;
	size_t num_connections, cap_connections;
	/* by spans.lcore; those of off-CPU times are those of the reactor */
	struct unread_lcore {
		uint64_t last; /* ns of its latest entry */
		struct unread_work {
			uint64_t begin, end, longest; /* ns; longest: of its calls */
			uint32_t who;                 /* that call was for; as of holders_who() */
		} work;
		struct unread_away {
			uint64_t begin, end;
			uint32_t who;                 /* MAP_NONE: none */
			uint32_t cause;               /* of the reactor's interval; MAP_NONE: none */
			struct unread_thread *thread; /* NULL: none */
			uint64_t read;                /* requests that were in sockets at its end */
			bool is_proven;
		} all[UNREAD_KEPT];
		uint64_t n; /* absences so far */
	} * lcores;
	size_t num_lcores, cap_lcores;
	/* of each span, by its index */
	struct unread_wait {
		uint64_t ns;
		uint32_t lcore;
		uint64_t away; /* number of the absence, plus 1; 0: none */
		bool replied;
	} * waits;
	size_t num_waits, cap_waits;
};

/* Sees an entry of a span, after its connection is set. is_first: its first one. */
void unread_see(struct unread *u, const struct span *s, const struct traceline *line, bool is_first);

/* Sees a line of spans.lcore, after its span. who: whom it was for. */
void unread_line(struct unread *u, const struct traceline *line, uint32_t who);

/* The absence that a span waited for before it was read, and the estimate in ns; NULL: none is known. */
const struct unread_away *unread_of(const struct unread *u, const struct span *s, uint64_t *ns);

void unread_free(struct unread *u);
