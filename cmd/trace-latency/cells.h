/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of the tables that have a column for each key of -g. Blanks in them become _, for awk(1). */
#ifndef TRACE_LATENCY_CELLS_H
#define TRACE_LATENCY_CELLS_H

#include "out.h"
#include "rows.h"

/* The columns of the keys of the groups, as wide as their widest cells. All zero: no group so far. */
struct cells {
	size_t *widths, n, cap;
	struct out text;
};

void cells_measure(struct cells *cells, struct slice group);

/* The keys of a group, or its values. out must be OUT_MEMORY, here and below. */
void cells_put_group(const struct cells *cells, struct out *out, struct slice group, bool keys);

/* The letter of a type and, if rows have several types of the letter, its family; or the column's name. */
void cells_put_type(struct out *out, const struct rows *rows, uint32_t type);
void cells_put_type_head(struct out *out);

/* Text as it is written in JSON, blanks up to the width, and one more. */
void cells_put(struct out *out, struct slice raw, size_t width);

void cells_free(struct cells *cells);

#endif
