/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes: what is known of an event besides its name, as Perfetto's debug annotations in the wire format.
 *
 * Names and repeated texts are interned as numbers. Each packet sequence must define a number before it uses it. Notes
 * list the numbers that they use, so they can be encoded before their track is known.
 *
 * Texts are as in JSON between quotes.
 */
#ifndef TRACE_PERFETTO_NOTES_H
#define TRACE_PERFETTO_NOTES_H

#include "lift.h"

/* Kinds of numbers. */
enum notes_kind { NOTES_NAMES, NOTES_STRINGS, NOTES_KINDS };

enum {
	/* numbers of each kind, from 0; further texts are written in full */
	NOTES_MAX = 512,
	/* the first ones, which most notes use, are recorded as bits */
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

/* A text, unless its p is NULL. once: it is not interned. */
void notes_text(struct notes *notes, enum note name, struct slice text, bool once);

/* A JSON value. Arrays, and objects nested too deep, are written as text. */
void notes_value(struct notes *notes, enum note name, struct slice value);

/* What is added between these calls is an object. start: what notes_open() returned. */
size_t notes_open(struct notes *notes, enum note name);
void notes_member(struct notes *notes, enum note name, struct slice value);
void notes_member_uint(struct notes *notes, enum note name, uint64_t value);
void notes_close(struct notes *notes, size_t start);

/* The arguments of a line, starting with the one at index from. */
void notes_args(struct notes *notes, const struct traceline *line, size_t from);

/* Valid until the next call. */
struct notes_list notes_list(const struct notes *notes);

/*
 * Appends the notes of an event, if there are any, to a buffer, with the number of the event. Numbers must be
 * ascending.
 */
void notes_store(const struct notes *notes, struct out *kept, uint32_t event);

/* Cuts off the list of this event at the start of rest. Without one the list is empty, and rest is unchanged. */
struct notes_list notes_load(struct slice *rest, uint32_t event);

void notes_free(struct notes *notes);

#endif
