/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of --layers; terminal NULL: its JSON lines. rows has the texts of groups and types, and the interval. */
#ifndef TRACE_LATENCY_LAYERS_TABLE_H
#define TRACE_LATENCY_LAYERS_TABLE_H

#include "out.h"
#include "shares.h"
#include "terminal.h"

void layers_table(struct out *out, const struct shares *shares, const struct rows *rows,
		  const struct terminal *terminal);

#endif
