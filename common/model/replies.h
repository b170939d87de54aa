/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the reply of a request was sent: the start of its last part. SPDK queues the parts in its sockets, and the
 * kernel gets them later; if the trace does not have the creation of a request, they do not name it.
 */
#pragma once

#include "latest.h"
#include "store.h"
#include "traceline.h"

struct span;

/* The area of a span. */
struct replies_span {
	uint64_t start;          /* ns: of the last part of its reply; UINT64_MAX: none so far */
	struct store_ref before; /* of a write: the one that was stored before it for the same object */
};

/* All zero at first. */
struct replies {
	struct latest reads;      /* from sockets */
	struct map map;           /* by the address of an object that the trace does not have so far */
	struct store_ref *writes; /* the latest one for it */
	size_t n, cap;
};

/* Sees that a request has a child, which is a write to its socket. */
void replies_extend(struct span *s, const struct span *write);

/* Sees that the kernel got a write, on this lcore; or that it has not, at the end of the trace. */
void replies_delay(const struct replies *r, const struct span *write, uint64_t lcore);

/*
 * Stores a write that starts without a parent, by the argument with the address of its object. If the trace does not
 * have the creation of an object, it does not name it; and its first entry may be its end, after them: a host that
 * reads slowly.
 */
void replies_keep(struct replies *r, struct span *write, const char *argument, const struct traceline *line);

/* The latest write that is stored for the object at an address, a key of traceline_in_source(). */
struct store_ref replies_latest(const struct replies *r, uint64_t address);

/* ns: when the reply of a span, or of one above it, started; UINT64_MAX: none did. */
uint64_t replies_start(const struct span *s);

void replies_free(struct replies *r);
