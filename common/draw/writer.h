/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A format that a trace is drawn in: the functions that write its tracks, the events on them, and the annotations of
 * an event, which are what it says besides its name. A tool defines them for its format; draw.c and tracks.c call them.
 *
 * Times are in nanoseconds. Texts are as in JSON between quotes, and valid during the call.
 */
#ifndef WRITER_H
#define WRITER_H

#include "request_io.h"

enum writer_track {
	WRITER_PROCESS,
	WRITER_HOST,
	WRITER_CONNECTION,
	WRITER_THREAD, /* an lcore, or another thread */
	WRITER_ROW,    /* of slices that do not overlap */
	WRITER_COUNTER,
};

/* The end of a slice that is still open. */
#define WRITER_NO_END UINT64_MAX

/* New values of counters, which are tracks, with an event. */
enum { WRITER_VALUES = 2 };

struct writer_values {
	uint32_t counters[WRITER_VALUES];
	uint64_t values[WRITER_VALUES];
};

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

/* No function may be NULL, except expect. */
struct writer {
	/* for the functions that follow */
	void *context;

	/* Gets each line before it is drawn; ns: its time. */
	void (*line)(void *context, const struct traceline *line, uint64_t ns);

	/*
	 * Adds a track and returns its number. parent: MAP_NONE for one at the top; rank: among its siblings, the
	 * lowest comes first. Only tracks that are used, and those above them, are written.
	 */
	uint32_t (*add_track)(void *context, enum writer_track kind, uint32_t parent, uint32_t rank, struct slice name);

	/* Says which counters the slices of a track may have values of, before its first event. */
	void (*expect)(void *context, uint32_t track, const uint32_t counters[WRITER_VALUES]);

	/*
	 * Starts a slice: begin(), arrow() for each of its arrows, annotate(); later end() with the same end. A slice
	 * must begin after everything before it on its track, and end after everything that it contains. values: NULL
	 * if there are none.
	 */
	void (*begin)(void *context, uint32_t track, uint64_t begin, uint64_t end, struct slice name,
		      const struct writer_values *values);
	/* An arrow with a number of its own leads from one event to another, which is later or at the same time. */
	void (*arrow)(void *context, uint64_t number, bool to_here, bool later);
	/* Writes the annotations of the slice. */
	void (*annotate)(void *context);
	void (*end)(void *context, uint32_t track, uint64_t end, const struct writer_values *values);

	/*
	 * A whole slice for a state, and a point in time, with the annotations. state: a number of the names that the
	 * format was given; arrow: the number of one that ends there, or 0.
	 */
	void (*state)(void *context, uint32_t track, uint64_t begin, uint64_t end, uint32_t state);
	void (*instant)(void *context, uint32_t track, uint64_t ns, uint32_t state, uint64_t arrow);

	/* A new value of a counter. */
	void (*count)(void *context, uint32_t counter, uint64_t ns, uint64_t value);

	/* for the functions that follow: the annotations of the next event that is written */
	void *annotations;

	void (*clear)(void *annotations);
	void (*flag)(void *annotations, enum annotation name);
	void (*uint)(void *annotations, enum annotation name, uint64_t value);
	void (*pointer)(void *annotations, enum annotation name, uint64_t value);
	/* A text, unless its p is NULL. once: no other event is likely to have the same. */
	void (*text)(void *annotations, enum annotation name, struct slice text, bool once);
	/* A JSON value. */
	void (*value)(void *annotations, enum annotation name, struct slice value);
	/* The arguments of a line, except for some of the first ones: a bit for each. */
	void (*args)(void *annotations, const struct traceline *line, uint64_t repeated);

	/* What is added between these calls is an object, which contains no other. */
	void (*open)(void *annotations, enum annotation name);
	void (*close)(void *annotations);

	/* The bytes that the annotations take when they are stored, 0: there are none; appends them to a buffer. */
	size_t (*size)(const void *annotations);
	void (*store)(const void *annotations, struct out *kept);
	/* Adds annotations that were stored. */
	void (*load)(void *annotations, struct slice stored);
};

/* The name of an annotation. */
const char *writer_name(enum annotation annotation);

/* The arguments that writer.args() may leave out, and the next one for it to write at i or later; num_args: none. */
enum { WRITER_REPEATED = 64 };
static inline size_t writer_next_arg(const struct traceline *line, uint64_t repeated, size_t i)
{
	while (i < line->num_args && i < WRITER_REPEATED && repeated >> i & 1)
		i++;
	return i;
}

#endif
