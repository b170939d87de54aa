/* SPDX-License-Identifier: BSD-3-Clause */
/* How busy lcores were, as the target counts: each by itself, and those of SPDK's threads that serve no connection. */
#pragma once

#include "facts.h"

/* Adds them to u, by the difference between the first and the last answer in rpc, which must outlive u. */
void busy_read(struct unread *u, struct slice rpc);

/* The part of its time in which the reactor of an lcore found something to do, 0 to 1; -1: it is not known. */
double busy_part(struct slice rpc, uint64_t lcore);

struct busy_full {
	uint64_t lcore;
	double part;
	struct slice who; /* the connection with most of its entries, for terminals */
};

/* Finds the lcore with connections that has least time left, if it is full. Returns false if none is. */
bool busy_is_full(struct facts *f, struct busy_full *full);
