/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of a queue, or its requests, in their order. Of many, only those are kept that are chosen by what they
 * and the two before them are: so both ends of a connection keep the same ones. A digest tells whether what is between
 * two of them is the same as well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ORDER_UNKNOWN = -1,   /* the time of an event that is not in the trace */
	ORDER_KEPT = 1 << 15, /* at most */
};

/* Type, address and length of an I/O, and what would follow it on the disk. */
struct order_what {
	uint64_t hash, next; /* 0: it has none, or they are not known */
};

struct order_what order_what(uint64_t lba, uint64_t blocks, uint64_t opcode);

/* Times are ns of the process's own trace. */
struct order_io {
	int64_t begin, end;
	uint64_t what;   /* hash */
	uint64_t gram;   /* hash of this one and the two before it; 0: it identifies none */
	uint64_t digest; /* of all up to this one */
	uint32_t number; /* its place in the queue */
};

/* All zero: there are none so far. */
struct order {
	struct order_io *kept;
	size_t n, cap;
	uint32_t count; /* of all */
	uint64_t mask;  /* those are kept whose gram has none of these bits; 0: all */
	uint64_t digest;
	struct order_what last[2];
};

/*
 * Adds the next one, and returns its number. Three that follow each other on the disk have no gram, since another pass
 * has the same ones, unless `sequential`: a known clock tells passes apart.
 */
uint32_t order_add(struct order *o, struct order_what what, int64_t begin, bool sequential);

/* The one with this number, or the first one after it that is kept: its place; n if there is none. */
size_t order_from(const struct order *o, uint32_t number);

/* NULL: it is not kept. */
struct order_io *order_find(const struct order *o, uint32_t number);

/* Whether what is after a up to b is the same as what is after c up to d. */
bool order_is_same(const struct order_io *a, const struct order_io *b, const struct order_io *c,
		   const struct order_io *d);
