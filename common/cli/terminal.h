/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for people: how wide its lines may be, and whether they have colours. Tables are for people on a terminal only:
 * elsewhere they are plain, for sort and awk. A tool that prints tables may have these options:
 *
 *	{0, "human", NULL, "the table of a terminal, wherever it goes", .call = terminal_human},
 *	{0, "plain", NULL, "the table of a pipe: tabs, microseconds, all columns", .call = terminal_tabs},
 */
#pragma once

/* Refuses what is gone: a row of struct cli_former. */
#define TERMINAL_FORMER                                                                          \
	{                                                                                        \
		0, "color", "is gone: NO_COLOR=1 or CLICOLOR_FORCE=1 in the environment says it" \
	}

#include <limits.h>
#include <stdbool.h>

#include "out.h"

struct terminal {
	unsigned width; /* columns; TERMINAL_WIDE: any number */
	bool color;
	bool plain; /* tables have tabs between columns, and times in microseconds; the width does not matter */
};

enum {
	TERMINAL_WIDE = INT_MAX,
	TERMINAL_DEFAULT = 100, /* where there is no terminal, as in a pipe */
	TERMINAL_ROOMY = 160,   /* from here on columns may be wider */
	TERMINAL_MOST = 1000,   /* from here on any width: nothing is shortened */
	TERMINAL_LEAST = 60,    /* a narrower terminal breaks the lines itself */
};

/* Options without an argument. Of several, the last one counts. */
void terminal_human(const char *unused);
void terminal_tabs(const char *unused);

/*
 * What is known of standard output, after cli_parse(). The width is that of $COLUMNS, or of the terminal. There are
 * colours on a terminal, unless $NO_COLOR is set, or $TERM is dumb; and everywhere if $CLICOLOR_FORCE is set.
 */
struct terminal terminal_open(void);

/* Parameters of "select graphic rendition", ECMA-48. */
#define TERMINAL_BOLD  "1" /* titles, and what matters most */
#define TERMINAL_HEADS "4" /* the names of columns: underlined, as faint text cannot be read everywhere */
#define TERMINAL_BAD   "31"

/* Text until terminal_plain() looks like this. Both write nothing if there are no colours. */
void terminal_paint(const struct terminal *t, struct out *out, const char *sgr);
void terminal_plain(const struct terminal *t, struct out *out);

/* Writes lines, cut to the width; commands, which start with `see:`, `cure:` or `try:`, are never cut. */
void terminal_lines(const struct terminal *t, struct out *out, struct slice text);
