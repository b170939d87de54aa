/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notes as Perfetto's debug annotations in the wire format.
 *
 * Names and repeated texts are interned as numbers. Each packet sequence must define a number before it uses it. Notes
 * list the numbers that they use, so they can be encoded before their track is known.
 */
#ifndef TRACE_PERFETTO_ANNOTATIONS_H
#define TRACE_PERFETTO_ANNOTATIONS_H

#include "notes.h"

/* Kinds of numbers. */
enum notes_kind { NOTES_NAMES, NOTES_STRINGS, NOTES_KINDS };

enum {
	/* numbers of each kind, from 0; further texts are written in full */
	NOTES_MAX = 512,
	/* the first ones, which most notes use, are recorded as bits */
	NOTES_BITS = 64,
};

struct notes {
	struct intern known[NOTES_KINDS];
	struct out bytes;
	char key;                   /* of the next note, in the wire format: members of an object have another one */
	uint64_t bits[NOTES_KINDS]; /* which of the first numbers they use */
	uint16_t *uses;             /* the others: kind * NOTES_MAX + number */
	size_t n, cap;
};

/* notes is all zero. */
void annotations_start(struct notes *notes);

void annotations_free(struct notes *notes);

#endif
