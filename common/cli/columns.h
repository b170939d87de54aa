/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tables and lines are made of. One list, an element for each column, makes the headings, text and JSON:
 *
 *	const struct column columns[] = {
 *		{"COMM", "comm", 15, columns_text(SLICE_ARRAY(e->comm))},
 *		{"TID", "tid", 7, columns_number(e->tid)},
 *		{"OFF(us)", "duration", -12, columns_us(e->end_ns - e->begin_ns)},
 *	};
 *
 * columns_row() writes them as a row of a table, with tabs for programs, or as a JSON object; livelines.h as they come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out.h"
#include "slice.h"
#include "terminal.h"

enum { COLUMNS_LEAST = 12 }; /* the usual least width of names */

/* The value of a column in a line. If it is absent, text has "-", and JSON has no member. */
struct column_value {
	enum {
		COLUMN_ABSENT,
		COLUMN_NULL,
		COLUMN_NUMBER,
		COLUMN_TEXT,
		COLUMN_WORD,
		COLUMN_RAW,
		COLUMN_JSON,
		COLUMN_PAINTED,
		COLUMN_US,
		COLUMN_MS,
		COLUMN_SECONDS,
		COLUMN_DURATION,
		COLUMN_RATE,
		COLUMN_PART,
		COLUMN_PERCENT,
		COLUMN_DIFFERENCE,
		COLUMN_REAL,
		COLUMN_BAR,
		COLUMN_TICKS,
		COLUMN_BOOL,
		COLUMN_FLAG,
	} kind;
	int decimals;   /* of a bar: its greatest length */
	bool is_more;   /* of a duration: > is before it */
	unsigned spare; /* see columns_spare() */

	/* of tables */
	const char *object;            /* that the member is in, as those around it are; NULL: none */
	const char *sgr, *heading_sgr; /* as of terminal_paint(), or NULL */
	size_t least;                  /* of names: columns are dropped before they are shorter; 0: no name */
	bool hides_zeros;              /* there is no such column if all its values are 0 */

	union {
		uint64_t number; /* times: nanoseconds */
		double real;
		struct slice text;
	};
};

struct column {
	const char *heading; /* NULL: only in JSON; "": no heading, and only in lines that have a value */
	const char *name;    /* of the member in JSON; NULL: only in text */
	/*
	 * Of the text; negative: aligned to the right. In tables numbers may be wider, and texts are shortened to it,
	 * unless it is negative, or the terminal is of any width. 0 is as wide as the values are: names are aligned to
	 * the left, others to the right.
	 */
	int width;
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

/* A duration that is at least so long, if `is`. */
static inline struct column_value columns_at_least(bool is, struct column_value duration)
{
	duration.is_more = is;
	return duration;
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

/* A percentage without decimals and with its sign; only in text. */
static inline struct column_value columns_percent(double percent)
{
	return (struct column_value){.kind = COLUMN_PERCENT, .real = percent};
}

/* A time in ns that may be negative: microseconds with three decimals in JSON; text has the unit that fits. */
static inline struct column_value columns_difference(double ns)
{
	return (struct column_value){.kind = COLUMN_DIFFERENCE, .real = ns};
}

/* A number with these decimals. */
static inline struct column_value columns_real(int decimals, double number)
{
	return (struct column_value){.kind = COLUMN_REAL, .decimals = decimals, .real = number};
}

/* A bar of this part, 0 to 1, of its greatest length; only in tables. */
static inline struct column_value columns_bar(int most, double part)
{
	return (struct column_value){.kind = COLUMN_BAR, .decimals = most, .real = part};
}

/* A string as written in JSON, without its quotes; one that is empty is absent. */
static inline struct column_value columns_raw(struct slice raw)
{
	return (struct column_value){.kind = raw.n ? COLUMN_RAW : COLUMN_ABSENT, .text = raw};
}

/* The same, also if it is empty. */
static inline struct column_value columns_string(struct slice raw)
{
	return (struct column_value){.kind = COLUMN_RAW, .text = raw};
}

/* Any value as written in JSON, and only there; one that is empty is absent. */
static inline struct column_value columns_json(struct slice json)
{
	return (struct column_value){.kind = json.n ? COLUMN_JSON : COLUMN_ABSENT, .text = json};
}

/* Text for terminals that may have colours: the last column of a table, which the terminal clips. */
static inline struct column_value columns_painted(struct slice text)
{
	return (struct column_value){.kind = COLUMN_PAINTED, .text = text};
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

/*
 * Writes the members of a JSON object; before: what is before the first one, a brace or a comma. Returns what is before
 * the next one.
 */
char columns_members(struct out *out, char before, const struct column *columns, size_t n);

/*
 * Writes rows: JSON objects; with tabs, if the terminal is plain; else a table, which is printed at its end: so columns
 * are as wide as what is in them, and the table is no wider than the terminal, for which columns are dropped, and names
 * are shortened in the middle. All zero but for the first members has no rows.
 */
struct columns {
	struct out *out;
	struct terminal terminal;
	bool is_json, is_array; /* is_array: the objects are an array, instead of lines */
	size_t indent;          /* of rows in a table; headings have none */

	bool is_bold;   /* the next row of a table */
	bool has_heads; /* with tabs: they are written, once for all tables; of an array: its start is */

	/* of the next row */
	struct column *row;
	size_t row_n, row_cap;

	/* of a table that is not printed so far */
	struct columns_shape {
		struct column first; /* of the first row */
		char *head;
		unsigned drop; /* of several columns, the one with the highest is dropped first; 0: none is */
		size_t width;
		bool dropped, any;
	} * all;
	size_t n, cap;
	struct out text;
};

/* Adds a column to the next row. The pointer to its value, which may be changed, is valid until the next call. */
struct column_value *columns_add(struct columns *c, const char *heading, const char *name, struct column_value value);

/*
 * Writes a row: what was added, and after it n columns. In a table those with a heading are the same in all rows, but
 * of the ranks of columns_spare() the highest counts.
 */
void columns_row(struct columns *c, const struct column *columns, size_t n);

/* Starts a line of text above the rows that follow, which get headings of their own. Write it here, visible. */
struct out *columns_title(struct columns *c);

/* The same for a line after the latest row. */
struct out *columns_note(struct columns *c);

/* Ends a table, which is printed, or an array, and frees its memory. More rows are another one. */
void columns_end(struct columns *c);
