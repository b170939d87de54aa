/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lifetime lines, by kind and by address or owner: which object had an address at a time?
 *
 * A line replaces an earlier one about the same object: of the same kind, begin, and address, or
 * owner if there is no address. If lifetimes of an address overlap, the one that is first in the
 * files counts. So an address has a list of disjoint spans, built when it is first looked up. A
 * look-up is one in a hash table and, unless the last answer still holds, a binary search. Lines
 * may be added at any time. Owners are treated like addresses.
 */
#pragma once

#include <stdint.h>

#include "map.h"
#include "slice.h"

enum {
	/* few, because every argument of a trace line is compared with each of them */
	LIFETIMES_KINDS = 64,
	/* bytes: a line is printed with each entry that it names. Two NQNs with all their bytes escaped fit. */
	LIFETIMES_LINE = 4096,
};

/* The keys of a lifetime: its object's address, and its owner as from lifetimes_owner(). */
enum lifetime_key { LIFETIME_PTR, LIFETIME_OWNER, LIFETIME_KEYS };

struct lifetime {
	unsigned kind;
	bool has[LIFETIME_KEYS];
	uint64_t key[LIFETIME_KEYS];
	uint64_t begin, end; /* ticks, both inclusive */
	size_t order;        /* of its first line, in the files */
	unsigned revision;   /* number of earlier lines about the same object */
	struct slice fields; /* of its line */
	/* its annotation, as key=value, … and as {"key":value,…}; NULL before it is first found */
	struct slice text, json;
};

/* The lifetimes of one address or owner. */
struct lifetime_value {
	struct lifetime_span {
		uint64_t begin, end;
		struct lifetime *lifetime;
	} answer;                    /* the last one; begin > end if there was none */
	struct lifetime_span *spans; /* disjoint, in the order of time */
	size_t num_spans;
	/* by begin, unless unsorted */
	struct lifetime_entry {
		struct lifetime *lifetime;
		uint64_t reach; /* the latest end of it and those before it */
	} * all;
	size_t n;
	bool unsorted, invalid;
	uint64_t valid_until; /* if invalid: earlier spans are valid */
};

struct lifetimes {
	struct lifetime **all;
	size_t n;
	size_t num_skipped; /* lines of another form */
	struct lifetime_kind {
		struct slice name;              /* of the arguments to annotate */
		struct map keys[LIFETIME_KEYS]; /* address or owner → index in values */
	} kinds[LIFETIMES_KINDS];
	unsigned num_kinds;
	struct lifetime_value *values;
	uint32_t num_values;
	size_t cap_values;
	struct map objects; /* what identifies an object → index in all */
	/* while spans are built: a heap of the lifetimes that have begun and may not have ended */
	struct lifetime **active;
	size_t num_active;
};

/* Adds the lifetime of one line to l, which is all zero at first; a lines_callback. */
const char *lifetimes_add(void *lifetimes, struct slice line);

/* The kind that annotates arguments of this name, or NULL. */
struct lifetime_kind *lifetimes_kind(struct lifetimes *l, struct slice name);

/* The key of an owner like t288, a letter and a decimal number. False if it has another form. */
bool lifetimes_owner(struct slice text, uint64_t *owner);

/* The lifetime that this address or owner belonged to at this time; NULL when there is none. */
const struct lifetime *lifetimes_find(struct lifetimes *l, const struct lifetime_kind *kind, enum lifetime_key key,
				      uint64_t value, uint64_t tsc);

void lifetimes_free(struct lifetimes *l);
