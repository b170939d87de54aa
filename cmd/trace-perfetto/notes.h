/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of an event besides its name: Perfetto's debug annotations, in the wire format.
 *
 * Names, and texts that come again and again, are numbers there, which each packet sequence has to define before it
 * uses them. Notes list those that they use, so that they can be made before it is known on which track they are drawn.
 *
 * Texts are as in JSON between quotes.
 */
#ifndef TRACE_PERFETTO_NOTES_H
#define TRACE_PERFETTO_NOTES_H

#include "lift.h"

/* Kinds of numbers. */
enum notes_kind { NOTES_NAMES, NOTES_STRINGS, NOTES_KINDS };

enum {
	/* numbers of each kind, from 0; what comes later is written in full */
	NOTES_MAX = 512,
	/* of those, the first ones, which most notes use, are bits */
	NOTES_BITS = 64,
};

/* Names that have a number from the start. */
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

/* What is written for an event. */
struct notes_list {
	struct slice bytes;
	uint64_t bits[NOTES_KINDS]; /* which of the first numbers it uses */
	const uint16_t *uses;       /* the others: kind * NOTES_MAX + number */
	size_t n;
};

struct notes {
	struct intern known[NOTES_KINDS];
	struct out bytes;
	uint64_t bits[NOTES_KINDS];
	uint16_t *uses;
	size_t n, cap;
};

/* notes is all zero. */
void notes_start(struct notes *notes);

/* Starts the notes of another event. */
void notes_clear(struct notes *notes);

void notes_flag(struct notes *notes, enum note name);
void notes_uint(struct notes *notes, enum note name, uint64_t value);
void notes_pointer(struct notes *notes, enum note name, uint64_t value);

/* A text, unless its p is NULL. once: it is not worth a number. */
void notes_text(struct notes *notes, enum note name, struct slice text, bool once);

/* A value as in JSON: arrays, and objects too deep in it, are text. */
void notes_value(struct notes *notes, enum note name, struct slice value);

/* What is written between these is an object. notes_close() gets what notes_open() returned. */
size_t notes_open(struct notes *notes, enum note name);
void notes_member(struct notes *notes, enum note name, struct slice value);
void notes_member_uint(struct notes *notes, enum note name, uint64_t value);
void notes_close(struct notes *notes, size_t start);

/* The arguments of a line from the one with this number on. */
void notes_args(struct notes *notes, const struct traceline *line, size_t from);

/* Valid until the next call. */
struct notes_list notes_list(const struct notes *notes);

/*
 * Keeps the notes of an event in a buffer, unless there are none, with a number that says which event it is. Numbers
 * only grow there.
 */
void notes_keep(const struct notes *notes, struct out *kept, uint32_t event);

/* The list of this event, which is the first one in the rest of the buffer or not there: then it is empty. */
struct notes_list notes_kept(struct slice *rest, uint32_t event);

void notes_free(struct notes *notes);

#endif
