/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a live tool, which are written as they come. On a terminal columns have the widths that their table
 * says; elsewhere they are for sort and awk: see columns_tabs().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "columns.h"
#include "count.h"
#include "out.h"
#include "ticks.h"
#include "wall.h"

/* The times of events, as printed. See recorder_stamp(). */
struct stamp {
	struct ticks *ticks; /* for the tsc of trace lines; NULL: tsc is in ns of the clock */
	struct ticks *wall;  /* for the time of day; NULL: not wanted */
	struct wall text;
	uint64_t first_ns; /* end of the first event; 0: none so far */
};

/* Nanoseconds since the first event. Events of several CPUs may be out of order. */
int64_t stamp_since(struct stamp *s, uint64_t ns);

/* Writes the start of a trace line: {"tsc":1000,"us":0.000 and perhaps ,"time":"2026-11-21T13:14:15.123456789Z" */
void stamp_json(struct stamp *s, struct out *out, uint64_t ns);

/* Where lines are written, and how. */
struct livelines {
	struct out *out;
	bool json;
	struct stamp stamp; /* see recorder_stamp(); for lines without a time all zero */

	/* made by livelines_heading() */
	bool plain;
	uint64_t left_out; /* columns, by their numbers */
	int comm;          /* the width of commands' names; 0: as in the table */
};

/*
 * Writes the line above the text. columns: n of them, at most 64; here their values do not matter. On a terminal that
 * is too narrow, decides what the lines do without, and how long names of commands are.
 */
void livelines_heading(struct livelines *c, const struct column *columns, size_t n);

/* Writes a line: the text, or a JSON object. */
void livelines_line(struct livelines *c, const struct column *columns, size_t n);

/*
 * The same for an event. Text starts with the time of day, if that is wanted. JSON is a trace line, with the object as
 * its args; tpoint is written as it is.
 */
void livelines_event(struct livelines *c, uint64_t ns, unsigned cpu, const char *tpoint, const struct column *columns,
		     size_t n);
