/* SPDX-License-Identifier: BSD-3-Clause */
/* One of the inputs: its lines with their times, read without waiting. */
#pragma once

#include "lines.h"
#include "out.h"
#include "traceline.h"
#include "unpack.h"

/* A line's time in both units. */
struct rate_point {
	uint64_t tsc;
	int64_t ns;
};

/*
 * Ticks per second of trace lines, from two of them: lines have ticks and microseconds, but no rate. The microseconds
 * are rounded, so a range of rates is possible. The roundest number in it is used, because most rates are whole MHz.
 */
struct rate_range {
	uint64_t low, high;
};

/* The rates that fit both times. False if no rate fits, or if b is less than 2 ns later than a. */
bool rate_between(struct rate_point a, struct rate_point b, struct rate_range *range);

/* The number in the range that ends in the most zeros; the lowest of these. */
uint64_t rate_roundest(struct rate_range range);

/* The parts of a line that merging needs. */
struct head {
	struct slice text;    /* all of the line */
	struct rate_point at; /* its time */
	bool timed;           /* whether its microseconds fit at.ns */
	struct slice us;      /* where they are */
	bool named;           /* it names its source itself */
};

enum { SOURCE_UNPACKS = 2 }; /* xz or gzip, and trace-dump */

struct source {
	struct slice name;
	struct slice member; /* ,"source":"NAME", inserted into each line */
	struct lines lines;
	struct unpack unpack[SOURCE_UNPACKS]; /* what makes these lines of the file */
	unsigned num_unpacks;

	enum {
		SOURCE_READY, /* the line below is the next one */
		SOURCE_EMPTY, /* no next line has come so far */
		SOURCE_ENDED,
	} state;
	struct slice read; /* the line as it was read */
	struct out utf8;   /* in memory: the line, if what was read is not UTF-8 */
	struct head next;
	struct traceline parsed;

	bool any;                      /* there was a line */
	bool failed;                   /* something was wrong, after a message */
	struct rate_point first, last; /* lowest and highest of the timed lines so far, by ticks */
	uint64_t highest;              /* ticks of the lines so far */
	uint64_t unordered;            /* lines with lower ticks than one before them */

	bool ages; /* for source_age(): the arrivals are recorded */
	struct arrival {
		uint64_t consumed, ms;
	} * arrivals;
	size_t first_arrival, num_arrivals, cap;
};

/*
 * name: empty for the file's own. ages: source_age() will be called. path and name must outlive s. Returns 0, or -1
 * with errno.
 */
int source_open(struct source *s, const char *path, struct slice name, bool ages);

/* Reads the next line, if one has come. Skips lines that are not trace lines, after a message. */
void source_next(struct source *s);

/* Reads what has come, while the next line stays the same. Returns whether anything has come. */
bool source_read(struct source *s);

/*
 * The descriptor to poll(2) for a line of a source that has none; with ahead, also for more lines of one that has a
 * line. -1: do not wait for it.
 */
int source_pollfd(const struct source *s, bool ahead);

/* The milliseconds since the line came. */
uint64_t source_age(struct source *s);

/*
 * The rate of the ticks, from the first line and a later one: the last line of a file; or the last one so far of a
 * pipe, after waiting for 2 ms of the trace. False when there are no two such lines.
 */
bool source_rate(struct source *s, struct rate_range *range);

/* Also closes the file, unless it was read to its end. */
void source_free(struct source *s);
