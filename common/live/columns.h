/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a live tool. One table, a row for each column, makes the headings, a line of text and a line of JSON:
 *
 *	const struct column columns[] = {
 *		{"COMM", "comm", 15, columns_text(SLICE_ARRAY(e->comm))},
 *		{"TID", "tid", 7, columns_number(e->tid)},
 *		{"OFF(us)", "duration", -12, columns_us(e->end_ns - e->begin_ns)},
 *	};
 */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "count.h"
#include "out.h"
#include "slice.h"
#include "stamp.h"

/* The value of a column in a line. If it is absent, text has "-", and JSON has no member. */
struct column_value {
	enum {
		COLUMN_ABSENT,
		COLUMN_NUMBER,
		COLUMN_TEXT,
		COLUMN_WORD,
		COLUMN_US,
		COLUMN_MS,
		COLUMN_SECONDS,
		COLUMN_TICKS,
		COLUMN_BOOL,
	} kind;
	int decimals;   /* of milliseconds and seconds in text */
	unsigned spare; /* see columns_spare() */
	union {
		uint64_t number; /* times: nanoseconds */
		struct slice text;
	};
};

struct column {
	const char *heading; /* NULL: only in JSON; "": no heading, and only in lines that have a value */
	const char *name;    /* of the member in JSON; NULL: only in text */
	int width;           /* of the text; negative: aligned to the right */
	struct column_value value;
};

static inline struct column_value columns_number(uint64_t number)
{
	return (struct column_value){.kind = COLUMN_NUMBER, .number = number};
}

/* The text stays the caller's until the line is written. An empty one is "-" in text, and "" in JSON. */
static inline struct column_value columns_text(struct slice text)
{
	return (struct column_value){.kind = COLUMN_TEXT, .text = text};
}

/* The same for printable ASCII without quotes and backslashes, at least one character; it is faster. */
static inline struct column_value columns_word(struct slice text)
{
	return (struct column_value){.kind = COLUMN_WORD, .text = text};
}

/* A time: microseconds with three decimals, in text and in JSON. */
static inline struct column_value columns_us(uint64_t ns)
{
	return (struct column_value){.kind = COLUMN_US, .number = ns};
}

/* The same, but text has milliseconds, rounded to these decimals. */
static inline struct column_value columns_ms(uint64_t ns, int decimals)
{
	return (struct column_value){.kind = COLUMN_MS, .decimals = decimals, .number = ns};
}

/* The same, but text has seconds with six decimals. A negative time is for text only. */
static inline struct column_value columns_seconds(int64_t ns)
{
	return (struct column_value){.kind = COLUMN_SECONDS, .decimals = 6, .number = ns};
}

/* The processor's counter at a time of the clock; only in JSON. */
static inline struct column_value columns_ticks(uint64_t ns)
{
	return (struct column_value){.kind = COLUMN_TICKS, .number = ns};
}

/* True or false; only in JSON. */
static inline struct column_value columns_bool(bool is)
{
	return (struct column_value){.kind = COLUMN_BOOL, .number = is};
}

/* The value, or an absent one. */
static inline struct column_value columns_if(bool known, struct column_value value)
{
	return known ? value : (struct column_value){};
}

/* A text that is absent if it is empty. */
static inline struct column_value columns_name(struct slice name)
{
	return columns_if(name.n, columns_text(name));
}

/* The same in a column that a terminal too narrow for all does without, those of rank 1 first; 0: never. */
static inline struct column_value columns_spare(unsigned rank, struct column_value value)
{
	value.spare = rank;
	return value;
}

/* Where lines are written, and how. */
struct columns_output {
	struct out *out;
	bool json;
	struct stamp stamp; /* see recorder_stamp(); for lines without a time all zero */

	/* made by columns_heading() */
	uint64_t left_out; /* columns, by their numbers */
	int comm;          /* the width of commands' names; 0: as in the table */
};

/*
 * Writes the line above the text. columns: n of them, at most 64; here their values do not matter. On a terminal that
 * is too narrow, decides what the lines do without, and how long names of commands are.
 */
void columns_heading(struct columns_output *c, const struct column *columns, size_t n);

/* Writes a line: the text, or a JSON object. */
void columns_line(struct columns_output *c, const struct column *columns, size_t n);

/*
 * The same for an event. Text starts with the time of day, if that is wanted. JSON is a trace line, with the object as
 * its args; tpoint is written as it is.
 */
void columns_event(struct columns_output *c, uint64_t ns, unsigned cpu, const char *tpoint,
		   const struct column *columns, size_t n);

/* Writes the JSON object only. */
void columns_object(struct columns_output *c, const struct column *columns, size_t n);

#endif
