/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lines and tables are made of. One table, a row for each column, makes the headings, text and JSON:
 *
 *	const struct column columns[] = {
 *		{"COMM", "comm", 15, columns_text(SLICE_ARRAY(e->comm))},
 *		{"TID", "tid", 7, columns_number(e->tid)},
 *		{"OFF(us)", "duration", -12, columns_us(e->end_ns - e->begin_ns)},
 *	};
 *
 * livelines.h writes them as they come, tabular.h as a table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out.h"
#include "slice.h"

/* The value of a column in a line. If it is absent, text has "-", and JSON has no member. */
struct column_value {
	enum {
		COLUMN_ABSENT,
		COLUMN_NULL,
		COLUMN_NUMBER,
		COLUMN_TEXT,
		COLUMN_WORD,
		COLUMN_RAW,
		COLUMN_US,
		COLUMN_MS,
		COLUMN_SECONDS,
		COLUMN_DURATION,
		COLUMN_RATE,
		COLUMN_PART,
		COLUMN_TICKS,
		COLUMN_BOOL,
		COLUMN_FLAG,
	} kind;
	int decimals;   /* of milliseconds in text */
	unsigned spare; /* see columns_spare() */

	/* of tables */
	const char *object; /* that the member is in, as those around it are; NULL: none */
	const char *sgr, *heading_sgr;
	size_t least;     /* of texts: columns are dropped before they are shorter; 0: aligned to the right */
	bool hides_zeros; /* there is no such column if all its values are 0 */

	union {
		uint64_t number; /* times: nanoseconds */
		double real;
		struct slice text;
	};
};

struct column {
	const char *heading; /* NULL: only in JSON; "": no heading, and only in lines that have a value */
	const char *name;    /* of the member in JSON; NULL: only in text */
	int width;           /* of the text in lines; negative: aligned to the right */
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

/* A time that may be negative, only in text: seconds with six decimals. */
static inline struct column_value columns_seconds(int64_t ns)
{
	return (struct column_value){.kind = COLUMN_SECONDS, .number = ns};
}

/* The same, but text has the unit that fits. */
static inline struct column_value columns_duration(uint64_t ns)
{
	return (struct column_value){.kind = COLUMN_DURATION, .number = ns};
}

/* A number with one decimal; in text, 0 has none, so that it stands out. */
static inline struct column_value columns_rate(double rate)
{
	return (struct column_value){.kind = COLUMN_RATE, .real = rate};
}

/* A part, 0 to 1: in text such a percentage, after a heading with a percent sign; in JSON with four decimals. */
static inline struct column_value columns_part(double part)
{
	return (struct column_value){.kind = COLUMN_PART, .real = part};
}

/* A string as written in JSON, without its quotes; one that is empty is absent. */
static inline struct column_value columns_raw(struct slice raw)
{
	return (struct column_value){.kind = raw.n ? COLUMN_RAW : COLUMN_ABSENT, .text = raw};
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

/* Such a word in text, and true in JSON. */
static inline struct column_value columns_flag(const char *word)
{
	return (struct column_value){.kind = COLUMN_FLAG, .text = slice_of(word)};
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

/* The same in a column that a terminal too narrow for all does without, those of lower rank first; 0: never. */
static inline struct column_value columns_spare(unsigned rank, struct column_value value)
{
	value.spare = rank;
	return value;
}

/* The same in a member of an object. */
static inline struct column_value columns_in(const char *object, struct column_value value)
{
	value.object = object;
	return value;
}

/* The same in a column of texts of a table, which are shortened to `least` if need be. */
static inline struct column_value columns_least(size_t least, struct column_value value)
{
	value.least = least;
	return value;
}

/* The text of a value that is no text, raw string or duration, if need be in room. */
enum { COLUMNS_ROOM = 64 };
struct slice columns_short(const struct column_value *value, char room[COLUMNS_ROOM]);

/* Writes a value as text. */
void columns_put(struct out *out, const struct column_value *value);

/*
 * Writes values for programs, or with `heads` the headings, of columns that have one: these are called as in JSON,
 * times are microseconds, and `-` is what is absent. before: what is before the first one, a tab or 0 for nothing.
 * Returns what is before the next one.
 */
char columns_tabs(struct out *out, char before, const struct column *columns, size_t n, bool heads);

/* Writes the heading; that of a part has a percent sign. */
void columns_put_heading(struct out *out, const struct column *column);

/*
 * Writes the members of a JSON object; before: what is before the first one, a brace or a comma. Returns what is before
 * the next one.
 */
char columns_members(struct out *out, char before, const struct column *columns, size_t n);
