/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Annotations (writer.h) as Perfetto's debug annotations in the wire format.
 *
 * Names and repeated texts are interned as numbers. Each packet sequence must define a number before it uses it. The
 * numbers that are used are listed, so annotations can be encoded before their track is known.
 */
#ifndef TRACE_PERFETTO_ANNOTATIONS_H
#define TRACE_PERFETTO_ANNOTATIONS_H

#include "writer.h"

/* Kinds of numbers. */
enum annotations_kind { ANNOTATIONS_NAMES, ANNOTATIONS_STRINGS, ANNOTATIONS_KINDS };

enum {
	/* numbers of each kind, from 0; further texts are written in full */
	ANNOTATIONS_MAX = 512,
	/* the first ones, which most events use, are recorded as bits */
	ANNOTATIONS_BITS = 64,
};

/* Those of the next event. */
struct annotations {
	struct intern known[ANNOTATIONS_KINDS];
	struct out bytes;
	char key;      /* of the next one, in the wire format: members of an object have another one */
	size_t object; /* where the object that is open starts */
	uint64_t bits[ANNOTATIONS_KINDS]; /* which of the first numbers are used */
	uint16_t *uses;                   /* the others: kind * ANNOTATIONS_MAX + number */
	size_t n, cap;
};

/* Sets the functions for annotations. a is all zero, and must outlive the writer. */
void annotations_start(struct writer *w, struct annotations *a);

void annotations_free(struct annotations *a);

#endif
