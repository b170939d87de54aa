/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace lines as text for people; spdk-trace-lines(7) describes both forms. */
#ifndef TEXT_H
#define TEXT_H

#include "out.h"
#include "traceline.h"
#include "who.h"

/* The columns of the short form, before the arguments. */
enum text_column {
	TEXT_LCORE,
	TEXT_US,
	TEXT_TIME,
	TEXT_WHO,
	TEXT_TPOINT,
	TEXT_OBJECT,
	TEXT_AGE,
	TEXT_SIZE,
	TEXT_COLUMNS
};

/* The state of the short form between lines; TEXT_SHORT at first. */
struct text_short {
	struct who who; /* has learned all lifetimes */
	bool has_times; /* any line so far had a time of day */
	/* in characters; they grow with the values, so that lines are aligned but not too wide */
	unsigned widths[TEXT_COLUMNS];
};

#define TEXT_SHORT                                                         \
	{                                                                  \
		.who = WHO_NONE, .widths = { 3, 11, 30, 12, 24, 12, 8, 5 } \
	}

/* A line of n bytes in the form of trace.py. The notes of its arguments are lifetimes or NULL. */
void text_write(struct out *out, const struct traceline *line, size_t n);

/* The same in the short form. */
void text_write_short(struct out *out, const struct traceline *line, size_t n, struct text_short *s);

#endif
