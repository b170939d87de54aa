/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table for people. Its cells are collected, so that columns are as wide as what is in them; then it is printed, no
 * wider than the terminal: columns are dropped, and names are shortened in the middle.
 *
 *	struct tabular t = {.terminal = &terminal};
 *
 *	tabular_column(&t, TABULAR_NAME, "state");
 *	tabular_column(&t, TABULAR_NUMBER, "mean");
 *	for (...) {
 *		tabular_row(&t, false);
 *		out_visible(tabular_cell(&t, NULL), name);
 *		out_duration(tabular_cell(&t, NULL), ns);
 *	}
 *	tabular_print(&t, &out);
 */
#pragma once

#include "columns.h"
#include "terminal.h"

enum { TABULAR_LEAST = 12 }; /* the usual least width of names */

enum tabular_kind {
	TABULAR_NAME,   /* to the left; may be shortened */
	TABULAR_NUMBER, /* to the right */
	TABULAR_BAR,    /* cells are of tabular_bar(); as long as there is room */
};

struct tabular_column {
	enum tabular_kind kind;
	char *head;
	const char *sgr;  /* of the head; NULL: TERMINAL_HEADS */
	unsigned drop;    /* of several columns, the one with the highest is dropped first, a bar before all; 0: none */
	size_t least;     /* of names: columns are dropped before this one is shorter */
	size_t most;      /* of a bar: its greatest length */
	bool hides_zeros; /* there is no such column if all its cells are "0" */

	/* found when it is printed */
	size_t width;
	bool dropped, any;
};

/* All zero but the terminal has no columns and no rows. */
struct tabular {
	const struct terminal *terminal;
	struct tabular_column *columns;
	size_t n, cap, next; /* next: the column of the next cell, for tabular_put() */
	struct out text;     /* of the rows */
};

/* Adds a column, before all rows. It is valid until the next call, and may be changed. */
struct tabular_column *tabular_column(struct tabular *t, enum tabular_kind kind, const char *head);

/* Starts a line of text above the rows that follow, which get a header of their own. Write it here, visible. */
struct out *tabular_heading(struct tabular *t);

/* Starts a row, which has a cell for each column. */
void tabular_row(struct tabular *t, bool bold);

/* Starts the next cell. Write its text here, visible. sgr: as of terminal_paint(), or NULL. */
struct out *tabular_cell(struct tabular *t, const char *sgr);

/* The next cell is a bar of this part, 0 to 1, of its greatest length. */
void tabular_bar(struct tabular *t, const char *sgr, double part);

/*
 * Starts the next cells, of n columns with a heading. They are added to the table in its first row; in others they are
 * the same, but of the ranks of columns_spare() the highest counts.
 */
void tabular_put(struct tabular *t, const struct column *columns, size_t n);

/* Prints it, and frees what it has. */
void tabular_print(struct tabular *t, struct out *out);
