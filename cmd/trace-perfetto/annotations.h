/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an event says besides its name, as Perfetto's debug annotations in the wire format. Texts are as in JSON between
 * quotes.
 *
 * Names and repeated texts are interned as numbers. Each packet sequence must define a number before it uses it. The
 * numbers that are used are listed, so annotations can be encoded before their track is known.
 */
#pragma once

#include "intern.h"
#include "out.h"
#include "request_io.h"

enum annotation {
	ANNOTATION_ID,
	ANNOTATION_VALUE,
	ANNOTATION_TSC,
	ANNOTATION_RELATED,
	ANNOTATION_POLLER,
	ANNOTATION_OWNER,
	ANNOTATION_SIZE,
	ANNOTATION_LCORE,
	ANNOTATION_OPEN,
	ANNOTATION_CUT,
	ANNOTATION_TORN,
	ANNOTATION_LOST,
	ANNOTATION_IO,
	ANNOTATION_ARGS,
	ANNOTATION_IO_KEY, /* the first key of an io, enum request_io_key */
	ANNOTATIONS = ANNOTATION_IO_KEY + REQUEST_IO_KEYS
};

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

/* a is all zero. */
void annotations_start(struct annotations *a);

void annotations_clear(struct annotations *a);
void annotations_flag(struct annotations *a, enum annotation name);
void annotations_uint(struct annotations *a, enum annotation name, uint64_t value);
void annotations_pointer(struct annotations *a, enum annotation name, uint64_t value);
/* A text, unless its p is NULL. once: no other event is likely to have the same. */
void annotations_text(struct annotations *a, enum annotation name, struct slice text, bool once);
/* A JSON value. */
void annotations_value(struct annotations *a, enum annotation name, struct slice value);
/* The arguments of a line, except for some of the first ones: a bit for each. */
enum { ANNOTATIONS_REPEATED = 64 };
void annotations_args(struct annotations *a, const struct traceline *line, uint64_t repeated);

/* What is added between these calls is an object, which contains no other. */
void annotations_open(struct annotations *a, enum annotation name);
void annotations_close(struct annotations *a);

/* The bytes that they take when they are stored, 0: there are none; appends them to a buffer; adds those stored. */
size_t annotations_size(const struct annotations *a);
void annotations_store(const struct annotations *a, struct out *kept);
void annotations_load(struct annotations *a, struct slice stored);

void annotations_free(struct annotations *a);
