/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the life of a span among the objects of its tree: each moment belongs to the innermost
 * object at work, so that the parts add up to the life.
 *
 * An object is at work from its first to its last entry, an open one until life_until(), but only while its parent is.
 * If several children are at work at once, the moment belongs to the one that the parent waits for, on the critical
 * path: the child that ends last, before its start the one that ends last of those that ended by then, and so on. Where
 * none of these is at work, it belongs to the one that ends last. The time from its creation to its first entry belongs
 * to the span itself, and to LAYER_UNKNOWN.
 * The layer is that of the object's state; but after the start of a reply it is LAYER_REPLY.
 */
#pragma once

#include "lifecycle.h"

struct span;
struct spans;

/* The area of a span, of those in the tree that was divided last. */
struct self_time_span {
	struct span *next;           /* sibling, by their ends, latest first */
	struct span *latest, *chain; /* of its children: the next to look at */
	uint64_t end, self;          /* ns */
};

struct self_time {
	uint64_t types[LIFECYCLE_TYPES]; /* ns */
	bool has[LIFECYCLE_TYPES];       /* types in the tree */
	/* of objects without an id, which have no type: by the letter of spdk_letter() */
	struct self_letter {
		struct slice letter;
		uint64_t ns;
	} letters[SPDK_LETTERS];
	unsigned num_letters;
	uint64_t layers[LAYERS]; /* ns */
};

/* Adds the time of a letter to the n letters so far; returns their number then. */
unsigned self_time_letter(struct self_letter *all, unsigned n, struct slice letter, uint64_t ns);

void self_time_measure(struct self_time *self, const struct spans *spans, const struct span *s);

/* Gets each part of a life: the object that it belongs to, its layer, and the time, from its end to its start. */
typedef void self_time_part(void *context, const struct span *s, enum layer layer, uint64_t from, uint64_t to);

/* Passes on all parts of a life after the first entry. */
void self_time_each(const struct spans *spans, const struct span *s, self_time_part *part, void *context);

/*
 * The bdev I/O in a span's tree to which most of this time belongs, other than to bdev I/Os below it. Of equal ones,
 * the last, children after their parents. NULL: the tree has no bdev I/O. Sets path.self of the bdev I/Os in the tree.
 */
const struct span *self_time_leg(const struct spans *spans, const struct span *s);
