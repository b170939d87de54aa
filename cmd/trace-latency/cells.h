/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tables of --layers and --rates start with: columns for the keys of -g, and for the type of objects. */
#ifndef TRACE_LATENCY_CELLS_H
#define TRACE_LATENCY_CELLS_H

#include "rows.h"
#include "tabular.h"

/* Adds the columns; group: any of the groups, all of which have the same keys. */
void cells_add_columns(struct tabular *t, struct slice group);

/* Writes the cells of a row: the values of its group; the letter of its type, and its family if that is shown. */
void cells_put(struct tabular *t, const struct rows *rows, const struct rows_name *name);

/* A number with one decimal. 0 is written without one, so that it stands out. */
void cells_put_number(struct tabular *t, const char *sgr, double number);

#endif
