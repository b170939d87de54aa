/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes: what a picture says of an event besides its name. Each tool that draws a trace defines these functions, and
 * struct notes, for its own format (picture.h).
 *
 * Texts are as in JSON between quotes.
 */
#ifndef NOTES_H
#define NOTES_H

#include "lift.h"

enum note {
	NOTE_ID,
	NOTE_VALUE,
	NOTE_TSC,
	NOTE_RELATED,
	NOTE_POLLER,
	NOTE_OWNER,
	NOTE_SIZE,
	NOTE_LCORE,
	NOTE_OPEN,
	NOTE_CUT,
	NOTE_TORN,
	NOTE_IO,
	NOTE_ARGS,
	NOTE_LIFT, /* the first key of an io, enum lift_key */
	NOTES = NOTE_LIFT + LIFT_KEYS
};

struct notes;

/* The name of a note. */
const char *note_name(enum note note);

/* Starts the notes of another event. */
void notes_clear(struct notes *notes);

void notes_flag(struct notes *notes, enum note name);
void notes_uint(struct notes *notes, enum note name, uint64_t value);
void notes_pointer(struct notes *notes, enum note name, uint64_t value);

/* A text, unless its p is NULL. once: no other event is likely to have the same. */
void notes_text(struct notes *notes, enum note name, struct slice text, bool once);

/* A JSON value. */
void notes_value(struct notes *notes, enum note name, struct slice value);

/* What is added between these calls is an object. start: what notes_open() returned. */
size_t notes_open(struct notes *notes, enum note name);
void notes_close(struct notes *notes, size_t start);

/* The arguments of a line, except for some of the first ones: a bit for each. */
enum { NOTES_REPEATED = 64 };
void notes_args(struct notes *notes, const struct traceline *line, uint64_t repeated);

/* The next argument to be written at i or later; line->num_args: there is no other. */
static inline size_t notes_next_arg(const struct traceline *line, uint64_t repeated, size_t i)
{
	while (i < line->num_args && i < NOTES_REPEATED && repeated >> i & 1)
		i++;
	return i;
}

/* How many bytes the notes take when they are stored; 0: no notes. */
size_t notes_size(const struct notes *notes);

/* Appends the notes to a buffer. */
void notes_store(const struct notes *notes, struct out *kept);

/* Adds notes that were stored. */
void notes_load(struct notes *notes, struct slice stored);

#endif
