/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace lines as short text for people; spdk-trace-lines(7) describes it. */
#pragma once

#include "connection.h"
#include "out.h"
#include "traceline.h"

/* The last column has the arguments. */
enum shorttext_column {
	SHORTTEXT_LCORE,
	SHORTTEXT_US,
	SHORTTEXT_TIME,
	SHORTTEXT_WHO,
	SHORTTEXT_TPOINT,
	SHORTTEXT_OBJECT,
	SHORTTEXT_AGE,
	SHORTTEXT_SIZE,
	SHORTTEXT_ARGS,
	SHORTTEXT_COLUMNS
};

/* The state between lines; SHORTTEXT_NONE at first. */
struct shorttext {
	bool has_times; /* any line so far had a time of day */
	/* in characters; they grow with the values, so that lines are aligned but not too wide */
	unsigned widths[SHORTTEXT_COLUMNS];
	bool hidden[SHORTTEXT_COLUMNS]; /* not WHO and TPOINT */
	bool shortens; /* names that are wider than their columns, in the middle; for output in memory */
};

#define SHORTTEXT_NONE                                    \
	{                                                 \
		.widths = { 3, 11, 30, 12, 24, 12, 8, 5 } \
	}

/* Writes the names of the columns that are not hidden, and a line feed; to memory. */
void shorttext_heading(const struct shorttext *s, struct out *out);

/*
 * Writes a line, all of whose texts have n bytes together. connection, named: what connections_find() says of it. The
 * argument that names the connection is left out.
 */
void shorttext_write(struct shorttext *s, struct out *out, const struct traceline *line, size_t n,
		     struct connections *connections, uint32_t connection, size_t named);
