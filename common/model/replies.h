/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the reply of a request was sent: the start of its last part. SPDK queues the parts in its sockets, and the
 * kernel gets them later; if the trace does not have the creation of a request, they do not name it.
 */
#pragma once

#include "latest.h"
#include "span.h"

/* All zero at first. */
struct replies {
	struct latest reads; /* from sockets */
	struct map writes;   /* by the address of an object that the trace does not have, so far: index of the latest */
};

/* Sees that a request has a child, which is a write to its socket. */
void replies_extend(struct span *s, const struct span *write);

/* Sees that the kernel got a write, on this lcore; or that it has not, at the end of the trace. */
void replies_delay(const struct replies *r, const struct span *write, uint64_t lcore);

/* Stores a write for the object of a key that the trace does not have. all: spans.all. */
void replies_keep(struct replies *r, struct span *const *all, struct span *write, uint64_t key);

/* The latest write that is stored for it, and the one before another one; NULL: there is none, or it was freed. */
struct span *replies_latest(const struct replies *r, struct span *const *all, uint64_t key);
struct span *replies_before(struct span *const *all, const struct span *write);

void replies_free(struct replies *r);
