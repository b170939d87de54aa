/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of text. Its parts are in page_*.h. */
#pragma once

#include "columns.h"
#include "facts.h"

enum { PAGE_GROUPS = 4 }; /* of tracepoints, or of requests in flight */

/*
 * Lines about what hangs. Returns whether they are a cause. *all: of all requests, so that those that ended are not
 * explained. Call it once.
 */
bool page_hang(struct out *out, struct facts *f, bool *all);

/* As wide as the terminal; with colours if that has them. Returns whether there is a cause. */
bool page_write(struct out *to, struct facts *f);

/* The n largest layers, as percentages of all, from half a percent on. */
void page_put_largest(struct out *out, const struct facts *f, const double layers[LAYERS], double all, unsigned n);

/* A line that says how many were left out, as cli_counted() words it; for 0, no line. */
void page_put_counted(struct out *out, uint64_t n, const char *what);

/* An empty table. */
struct columns page_table(struct out *out, const struct facts *f);
