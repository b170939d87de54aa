/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each lcore wrote, for which connections, and its longest silence. A silence is a time
 * without an entry of the lcore: between two entries, or before its first or after its last one while other lcores of
 * the same source wrote some.
 */
#pragma once

#include "connection.h"
#include "interval.h"
#include "spans.h"

enum {
	LCORE_ROWS_MAX = 4096,
};

/* All zero has no rows, except for the first two. */
struct lcore_rows {
	const struct spans *spans;       /* of the same lines */
	struct connections *connections; /* ditto */

	struct map map;   /* by source and lcore */
	struct map first; /* by lcore: the row of the first source that has it */
	struct lcore_row {
		uint32_t source; /* in sources, as in JSON; MAP_NONE: its lines have none */
		uint64_t lcore;
		uint64_t entries, requests; /* in the interval, here and below */
		uint64_t last;              /* ns: of the latest entry */
		uint64_t active;            /* ns */
		struct lcore_silence {
			uint64_t begin, ns;
			/* text: what held the reactor longest in it, by a line of offcpusnoop; empty: unknown */
			struct out cause;
			uint64_t held_from, held_to; /* ns: its interval */
		} longest, now;                      /* now: since the latest entry; begin and ns are not set */
	} * all;
	size_t n, cap;
	struct intern sources;
	struct lcore_source {
		uint64_t first, last; /* ns: entries */
		bool seen;
	} * times; /* by source; 0: of lines without one */
	size_t num_times, cap_times;

	struct map use_map; /* by row and connection */
	struct lcore_use {
		uint32_t row, connection;
		uint64_t entries; /* in the interval */
	} * uses;
	size_t num_uses, cap_uses;

	struct interval interval;       /* of the rows, if there are several */
	uint64_t first_held, last_held; /* ns: covered by lines of offcpusnoop; last_held 0: no lines */

	bool over; /* the last interval has ended */

	uint64_t beyond; /* entries of more lcores */
};

/* Reads a line that an lcore wrote, of a time in ns. */
void lcore_rows_line(struct lcore_rows *rows, const struct traceline *line, uint64_t ns);

/* A spans.held function's arguments, without its context. */
void lcore_rows_hold(struct lcore_rows *rows, const struct reactor *reactor, const struct reactors_interval *interval,
		     const struct traceline *line);

/* A request has ended. */
void lcore_rows_request(struct lcore_rows *rows, const struct span *s);

struct lcore_sum {
	const struct lcore_row *row;
	struct slice source;          /* empty: none */
	uint64_t ns;                  /* of the trace or the interval */
	const struct lcore_use *uses; /* the one with most entries first */
	size_t num_uses;
};

/*
 * Ends the interval, or the last one, also with the reactors that wrote nothing. Returns the rows by source and lcore,
 * as many as rows->n then is; NULL: none. The caller frees the array. They are valid until the next line.
 */
struct lcore_sum *lcore_rows_end(struct lcore_rows *rows, bool last);

/* Whether there are lines of several sources; those without one count as one. */
bool lcore_rows_has_sources(const struct lcore_rows *rows);

/* The cause of a row's longest silence, for terminals, and the part of it that this explains, 0 to 1. */
struct lcore_cause {
	struct slice text; /* empty: none, as there was no silence, or offcpusnoop did not record the reactor */
	double share;      /* 0: no line of offcpusnoop is the cause */
};
struct lcore_cause lcore_rows_cause(const struct lcore_rows *rows, const struct lcore_row *row);

/* Starts the interval of this length that contains a time; both in ns. */
void lcore_rows_start(struct lcore_rows *rows, uint64_t ns, uint64_t length);

void lcore_rows_free(struct lcore_rows *rows);
