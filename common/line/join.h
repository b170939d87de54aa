/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names the objects behind the addresses and the owner in a trace line: an argument is annotated if a lifetime line has
 * its name and address at that time. A line whose owner is in a lifetime line gets the annotation as another argument.
 */
#pragma once

#include "lifetimes.h"
#include "traceline.h"

struct out;

/* All zero before the first lifetime. */
struct join {
	struct lifetimes lifetimes;
	/* lines that could have been named; counted until one is */
	struct join_unnamed {
		bool named;                /* a line was named */
		bool any;                  /* one was counted */
		uint64_t by_arg;           /* that have an argument of a lifetime's kind */
		uint64_t by_owner[1 << 8]; /* others that have an owner, by the letter of its type */
		uint64_t first, last;      /* if any: their ticks, lowest and highest */
	} unnamed;
};

/*
 * Sets the note of each argument to its struct lifetime or NULL, and adds an argument for each object that is found by
 * the owner. Returns whether there is one.
 */
bool join_annotate(struct join *j, struct traceline *line);

/* Writes an annotated line, which has this text, with annotations as values, and every other byte as it is. */
void join_write(struct out *out, const struct traceline *line, struct slice text);

/* The same for a line without text: makes annotations its values. Its arguments become text in `to`, empty before. */
void join_fill(struct out *to, struct traceline *line);
