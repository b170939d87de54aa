/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the objects of trace lines through their lives.
 *
 * A trace says when an object is created and never when it ends. So a life lasts until the last entry that
 * is about it before another object of its type has its address, or until the last one of the trace.
 * Applications take their objects from pools: memory grows with the addresses, not with the entries.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdint.h>

#include "map.h"
#include "intern.h"
#include "traceline.h"

enum { OBJECTS_TYPES = 256 }; /* SPDK has no more */

struct object {
	uint64_t number;      /* of its id */
	uint64_t first, last; /* nanoseconds: its first entry and its last one so far */
	uint64_t age;     /* nanoseconds from its creation to its first entry, which may be it */
	uint32_t type;    /* in types */
	uint32_t state;   /* of its last entry */
	uint32_t entries; /* 0: there is no object; stops at the largest number */
	uint32_t use;     /* of its state, in uses */
	uint32_t note;    /* for the caller to set and use */
	uint32_t marks;   /* ditto; stays when another object has the address */
};

struct objects {
	/* letters of ids, and states, as written in JSON; set before the first call, the caller's */
	struct intern *types, *states;
	struct map addresses[OBJECTS_TYPES];
	struct object *all; /* one for each address */
	uint32_t n, cap;
	struct map use_map; /* type and state: index in uses */
	struct object_use {
		uint64_t left, ended; /* how often objects left it, and ended their lives in it */
		uint64_t stay;        /* how many are in it */
		bool last_by_name;
	} * uses;
	uint32_t num_uses, cap_uses;
	uint64_t depths[OBJECTS_TYPES]; /* objects that are in work now, by type */
	struct map unknown; /* addresses of objects without begin, with whether they are */

	/* what could not be followed */
	uint64_t unknowns; /* objects whose creation is not in the trace */
	uint64_t late;     /* entries that are earlier than the one before them of their object */
	uint64_t restarts; /* creations that are earlier than the last entry at their address */
};

enum object_event {
	OBJECT_NONE,    /* the line is about no object, or about one that cannot be followed */
	OBJECT_BEGINS,  /* a new life; the one before it at this address has ended */
	OBJECT_GOES_ON, /* the next entry of a life */
	OBJECT_ERROR,
};

/*
 * Takes in a line, its time in nanoseconds, and the state that it puts its object into. *object becomes the
 * object, valid until the next call; *before what was at its address before the line, with entries == 0 when
 * that was nothing. After OBJECT_ERROR *error is what is wrong with the line.
 */
enum object_event objects_take(struct objects *objects, const struct traceline *line, uint64_t ns,
			       uint32_t state, struct object **object, struct object *before,
			       const char **error);

/* The object that the line's one is related to, while it is followed; else NULL. */
struct object *objects_related(const struct objects *objects, const struct traceline *line);

/*
 * Whether the state that an object is in is one in which lives end. A trace does not tell: it is one when more objects
 * have ended their lives in it than have left it, and by its name as long as that is open. at_end: the trace is over,
 * so that the objects that are in the state now have ended there.
 */
bool objects_is_final(const struct objects *objects, const struct object *object, bool at_end);

/*
 * Puts an object into its next state. OBJECT_GOES_ON; OBJECT_NONE when that is earlier than its last one, and counted;
 * OBJECT_ERROR when there is no memory.
 */
enum object_event objects_step(struct objects *objects, struct object *object, uint64_t ns,
			       uint32_t state);

void objects_free(struct objects *objects);

#endif
