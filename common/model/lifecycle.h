/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the objects of trace lines through their lives.
 *
 * A trace records when an object is created, but not when it ends. So a life lasts until the
 * object's last entry before another object of its type has its address, or until its last entry in
 * the trace. Applications allocate objects from pools, so memory grows with the number of
 * addresses, not of entries.
 */
#pragma once

#include <stdint.h>

#include "intern.h"
#include "map.h"
#include "spdk.h"
#include "traceline.h"

enum { LIFECYCLE_TYPES = 256 }; /* SPDK has no more */

/*
 * A type is the letter of its ids; for a letter that SPDK uses for several types, a NUL byte and the
 * family of the tracepoints follow, as in "r\0TCP". JSON has no NUL bytes.
 */
static inline struct slice lifecycle_letter(struct slice type)
{
	const char *end = memchr(type.p, 0, type.n);

	return end ? slice_between(type.p, end) : type;
}

/* Empty: the letter has one type. */
static inline struct slice lifecycle_family(struct slice type)
{
	struct slice letter = lifecycle_letter(type);

	return slice_from(type, letter.n + (letter.n < type.n));
}

struct object {
	uint64_t number;      /* of its id */
	uint64_t first, last; /* nanoseconds: its first entry, and its last one so far */
	uint64_t age;         /* nanoseconds from its creation to its first entry; 0 if that is its creation */
	uint32_t type;        /* in types */
	uint32_t state;       /* of its last entry */
	uint32_t entries;     /* 0: there is no object; stops at the largest number */
	uint32_t use;         /* of its state, in uses */
	uint32_t note;        /* the caller's: 0 when a life starts */
};

struct lifecycle {
	/* types, and states as in JSON; the caller's, set before the first call */
	struct intern *types, *states;
	struct lifecycle_state {
		uint32_t type;         /* of the object that was in it last; MAP_NONE at first */
		uint32_t used_by, use; /* that type, and the index in uses of both; MAP_NONE at first */
		const struct spdk_tpoint *tpoint;
	} * known; /* by state */
	size_t num_known, cap_known;
	struct map addresses[LIFECYCLE_TYPES];
	struct object *all; /* one for each address */
	size_t n, cap;
	struct map use_map; /* type and state: index in uses */
	struct lifecycle_use {
		uint64_t left, ended; /* number of times that objects left the state, and ended their lives in it */
		bool final_by_name;
	} * uses;
	size_t num_uses, cap_uses;

	/* what could not be followed */
	uint64_t out_of_order; /* entries earlier than the previous entry of their object */
	uint64_t restarts;     /* creations earlier than the last entry at their address */
};

/* What SPDK means by a state; lifecycle_learn() also by one that no object was in so far. */
static inline const struct spdk_tpoint *lifecycle_tpoint(const struct lifecycle *l, uint32_t state)
{
	return l->known[state].tpoint;
}
const struct spdk_tpoint *lifecycle_learn(struct lifecycle *l, uint32_t state);

/* What restarts counts, for messages. */
#define LIFECYCLE_RESTARTS                                                         \
	"object{ is|s are} created before the last entry at {its|their} address: " \
	"the lines come from several traces, or are not in order"

enum lifecycle_event {
	LIFECYCLE_NONE,    /* the line is out of order */
	LIFECYCLE_STARTS,  /* a new life; the one before it at this address has ended */
	LIFECYCLE_GOES_ON, /* the next entry of a life */
};

/* What a line has changed. */
struct lifecycle_change {
	enum lifecycle_event event;
	struct object *object; /* valid until the next line */
	struct object before;  /* if a life starts: what was at its address; entries == 0: nothing */
};

/*
 * Reads a line about an object with an id. ns: its time; state: the state that its object enters.
 * Returns NULL, or what is wrong with the line.
 */
const char *lifecycle_line(struct lifecycle *l, const struct traceline *line, uint64_t ns, uint32_t state,
			   struct lifecycle_change *change);

/* The object that the line's object is related to, or NULL if that is not followed. */
struct object *lifecycle_related(const struct lifecycle *l, const struct traceline *line);

/*
 * The object that an object with this entry belongs to, if the trace records no relation: one in
 * work whose address is an argument; or NULL.
 */
struct object *lifecycle_linked(const struct lifecycle *l, const struct object *object, const struct traceline *line);

/*
 * Whether lives end in an object's state, which a trace does not say. They do if more objects have
 * ended their lives in it than have left it; if both numbers are equal, its name decides.
 */
static inline bool lifecycle_is_final(const struct lifecycle *l, const struct object *object)
{
	const struct lifecycle_use *use = &l->uses[object->use];

	return use->ended == use->left ? use->final_by_name : use->ended > use->left;
}

/*
 * Whether an object had ended before ns. The name of its state has to say so, too: where a trace lacks the entries of
 * later states, lives also end in those in which objects are at work.
 */
bool lifecycle_has_ended(const struct lifecycle *l, const struct object *object, uint64_t ns);

void lifecycle_free(struct lifecycle *l);
