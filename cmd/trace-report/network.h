/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the network and the hosts did to connections while the trace was recorded, by the kernel's counts: replies that
 * wait there have ended in the trace.
 */
#pragma once

#include <stdbool.h>

#include "intern.h"
#include "out.h"

struct facts;

struct network {
	struct intern names; /* of connections, by their addresses */
	struct network_connection {
		struct slice address, host; /* of the host; its NQN as written in JSON, empty: not known */
		bool ended;                 /* its counts at the end are known; they are times in us */
		double begin, us, sending, window, window_before, retransmitted, retransmitted_before, least_rtt;
	} * all;
	size_t n, cap;
};

/* Reads what trace-record kept. n is all zero. */
void network_read(struct network *n, const struct facts *f);

/* The connection whose host read the least: its window was full for a notable time. NULL: there is none. */
const struct network_connection *network_deaf(const struct network *n);

/* The share of the time for which the window was full. */
double network_full(const struct network_connection *c);

/* Its host for people, or its address. */
void network_put_name(struct out *out, struct facts *f, const struct network_connection *c);

/* Writes it as a finding of trace-causes -j, with the share of the time instead of sums over requests. */
void network_write(struct out *out, struct facts *f, const struct network_connection *c);

/* Rows of connections with something to tell. */
void network_put(struct out *out, struct facts *f, const struct network *n);

void network_free(struct network *n);
