/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each lcore wrote, for which connections, and its longest silence. A silence is a time without an entry of the
 * lcore: between two entries, or before its first or after its last one while other lcores wrote some.
 */
#pragma once

#include "connection.h"
#include "held.h"
#include "spans.h"

/* All zero has no rows, except for the first three. */
struct lcore_rows {
	const struct spans *spans;       /* of the same lines */
	struct connections *connections; /* ditto */
	const struct held *held;         /* ditto */

	struct map map; /* by lcore */
	struct lcore_row {
		uint64_t lcore, entries, requests;
		uint64_t last;   /* ns: of the latest entry */
		uint64_t active; /* ns */
		struct lcore_silence {
			uint64_t begin, ns;
			struct slice cause; /* what held the reactor longest in it, by a line of offcpusnoop */
			uint64_t held;      /* ns: for so long */
		} longest;
	} * all;
	size_t n, cap;
	uint64_t first, last; /* ns: entries */

	struct map use_map; /* by row and connection */
	struct lcore_use {
		uint32_t row, connection;
		uint64_t entries;
	} * uses;
	size_t num_uses, cap_uses;
};

/* Reads a line that an lcore wrote, of a time in ns. */
void lcore_rows_line(struct lcore_rows *rows, const struct traceline *line, uint64_t ns);

/* A request has ended. */
void lcore_rows_request(struct lcore_rows *rows, const struct span *s);

struct lcore_sum {
	const struct lcore_row *row;
	uint64_t ns;                  /* of the trace */
	const struct lcore_use *uses; /* the one with most entries first */
	size_t num_uses;
};

/*
 * At the end of the lines: returns the rows by lcore, also those of reactors that wrote nothing, as many as rows->n
 * then is; NULL: none. The caller frees the array.
 */
struct lcore_sum *lcore_rows_end(struct lcore_rows *rows);

/* The cause of a row's longest silence, for terminals, and the part of it that this explains. */
struct lcore_cause {
	struct slice text;
	double share; /* 0: no line of offcpusnoop is the cause */
};
struct lcore_cause lcore_rows_cause(const struct lcore_row *row);

void lcore_rows_free(struct lcore_rows *rows);
