/* SPDX-License-Identifier: BSD-3-Clause */
/* One of the inputs: its lines with their times, read without waiting. */
#ifndef TRACE_MERGE_SOURCE_H
#define TRACE_MERGE_SOURCE_H

#include "lines.h"
#include "rate.h"
#include "traceline.h"

/* What merging needs of a line. */
struct head {
	struct slice text;    /* all of the line */
	struct rate_point at; /* its time */
	bool timed;           /* whether its microseconds fit at.ns */
	struct slice us;      /* where they are */
	bool named;           /* it says its source itself */
};

struct source {
	struct slice name;
	struct slice member; /* ,"source":"NAME", to be put into each line */
	struct lines lines;

	enum {
		SOURCE_READY, /* the line below is the next one */
		SOURCE_EMPTY, /* nothing has come so far */
		SOURCE_ENDED,
	} state;
	struct head next;
	struct traceline parsed;

	bool any;                      /* there was a line */
	bool failed;                   /* something was wrong, which was printed */
	struct rate_point first, last; /* of the lines so far that are timed, by ticks */
	uint64_t highest;              /* ticks of the lines so far */
	uint64_t unordered;            /* lines with lower ticks than one before them */

	bool ages; /* for source_age(): what was read when */
	struct arrival {
		uint64_t consumed, ms;
	} * arrivals;
	size_t first_arrival, num_arrivals, cap;
};

/* name: empty for the file's own. ages: source_age() will be called. Returns -1 with errno. Both must outlive it. */
int source_open(struct source *s, const char *path, struct slice name, bool ages);

/* Goes to the next line, if one has come. What is not a trace line is complained of and left out. */
void source_next(struct source *s);

/* Reads what has come, while the line stays the next one. Returns whether anything has. */
bool source_read(struct source *s);

/*
 * The descriptor to poll(2) for the first line of a source that has none; with ahead, also for more lines of one that
 * has a line. -1: do not wait for it.
 */
int source_pollfd(const struct source *s, bool ahead);

/* The milliseconds since the line came. */
uint64_t source_age(struct source *s);

/*
 * The rate of the ticks, from the line and a later one: the last line of a file; of a pipe the last one that has come,
 * for which it waits until 2 ms of the trace have come. False when there are no two such lines.
 */
bool source_rate(struct source *s, struct rate_range *range);

/* Closes the file as well, when it was not read to its end. */
void source_free(struct source *s);

#endif
