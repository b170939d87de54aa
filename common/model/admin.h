/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells the admin requests among the roots: those of queue 0. A host's asynchronous event requests live as long as its
 * connection, and would outweigh all I/O.
 *
 * The number of the queue is in the lifetime annotation or the owner of a root's first entry; that of a command of
 * SPDK's own NVMe driver is in its poller. Where no line says it, an asynchronous event request shows when its
 * connection ends: the target frees it without executing it. That needs the entries of the connection's end, and those
 * of bdev I/Os, of which none follows a request of the connection. Until then the request may be an I/O in trouble.
 */
#pragma once

#include "connection.h"
#include "lifecycle.h"

struct span;

/* The area of a span. */
struct admin_span {
	enum admin_queue { /* of a root */
			   ADMIN_UNKNOWN,
			   ADMIN_QUEUE,
			   ADMIN_IO_QUEUE,
	} queue;
	uint32_t member_of; /* in all, plus 1; 0: not known */
};

/* All zero at first, but for lifecycle. Memory grows with the number of connections whose queue no line says. */
struct admin {
	const struct lifecycle *lifecycle; /* of the spans */
	struct map map;                    /* by address or owner: the latest connection there */
	struct admin_connection {
		bool has_io, ended;
		unsigned char freed; /* requests when it ended */
	} * all;
	size_t n, cap;
	/* texts that were read before, as most roots are of few connections */
	struct admin_text {
		struct slice text; /* an annotation or an owner */
		enum admin_queue queue;
	} recent[CONNECTION_TEXTS];
	bool has_bdev_io;  /* the lines have some */
	uint64_t possible; /* requests that ended and may be asynchronous event requests */
};

/* Sets the queue of a root with its first entry, of this tracepoint. */
void admin_start(struct admin *a, struct span *s, const struct spdk_tpoint *tpoint, const struct traceline *line);

/* Sees the first entry of a child; parent: NULL if it is not stored. */
void admin_child(struct admin *a, const struct span *parent, const struct spdk_tpoint *tpoint);

/* Sees an entry that is about no object. */
void admin_line(struct admin *a, const struct spdk_tpoint *tpoint, const struct traceline *line);

/* Sets the queue of a root that ends, if it is known now. */
void admin_end(struct admin *a, struct span *s);

/* Whether a root of an unknown queue may be an asynchronous event request. */
bool admin_is_possible(const struct admin *a, const struct span *s);

/* Whether a span belongs to an admin request. */
bool admin_has(const struct span *s);

void admin_free(struct admin *a);

/* What is counted, for messages. */
#define ADMIN_LEFT_OUT "admin request{|s} left out: --admin shows {it|them}"
#define ADMIN_POSSIBLE                                                                                 \
	"{request may be an asynchronous event request|requests may be asynchronous event requests}: " \
	"no lifetimes or owners in the lines tell {its|their} queue"
