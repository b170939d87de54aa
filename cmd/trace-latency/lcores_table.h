/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of --reactors; terminal NULL: its JSON lines. Ends the interval, or the last one. */
#ifndef TRACE_LATENCY_LCORES_TABLE_H
#define TRACE_LATENCY_LCORES_TABLE_H

#include "lcore_rows.h"
#include "out.h"
#include "terminal.h"

void lcores_table(struct out *out, struct lcore_rows *rows, bool last, const struct terminal *terminal);

#endif
