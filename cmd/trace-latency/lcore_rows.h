/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of --reactors: what each lcore wrote, for which connections, and its longest silence. A silence is a time
 * without an entry of the lcore: between two entries, or before its first or after its last one while other lcores of
 * the same source wrote some.
 */
#ifndef TRACE_LATENCY_LCORE_ROWS_H
#define TRACE_LATENCY_LCORE_ROWS_H

#include "connection.h"
#include "rows.h"
#include "spans.h"
#include "terminal.h"

enum {
	LCORE_ROWS_MAX = 4096,
};

/* All zero has no rows. */
struct lcore_rows {
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

	struct connections connections;
	struct map use_map; /* by row and connection */
	struct lcore_use {
		uint32_t row, connection;
		uint64_t entries; /* in the interval */
	} * uses;
	size_t num_uses, cap_uses;

	uint64_t from;                  /* ns: where the interval begins */
	uint64_t first_held, last_held; /* ns: covered by lines of offcpusnoop; last_held 0: no lines */

	bool over; /* the last interval is printed */

	uint64_t beyond; /* entries of more lcores */
};

/* Reads a line that an lcore wrote, of a time in ns. */
void lcore_rows_line(struct lcore_rows *rows, const struct traceline *line, uint64_t ns);

/* A spans.held function's arguments, without its context. */
void lcore_rows_hold(struct lcore_rows *rows, const struct spans *spans, const struct reactor *reactor,
		     const struct reactors_interval *interval, const struct traceline *line);

/* A request has ended. */
void lcore_rows_request(struct lcore_rows *rows, const struct spans *spans, const struct span *s);

/*
 * Ends the interval at a time in ns, or at the last entry of each source if that is UINT64_MAX, and prints it. spans
 * has the reactors that wrote nothing. terminal: NULL for JSON lines.
 */
void lcore_rows_print(struct lcore_rows *rows, struct out *out, const struct spans *spans, uint64_t to,
		      const struct rows_interval *interval, const struct terminal *terminal);

/* Starts an interval at a time in ns. */
void lcore_rows_start(struct lcore_rows *rows, uint64_t from);

void lcore_rows_free(struct lcore_rows *rows);

#endif
