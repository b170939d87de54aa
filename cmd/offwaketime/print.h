/* SPDX-License-Identifier: BSD-3-Clause */
/* offwaketime's lines. */
#pragma once

#include "naming.h"
#include "out.h"
#include "pairs.h"

struct offwaketime_printer {
	struct out *out;
	const struct naming *naming;
	const char *extent; /* in JSON lines, members after the first ones: the interval, or "" */
};

/* Several lines, for people. */
void print_text(const struct offwaketime_printer *p, const struct pair_total *t);

/* A line as flamegraph.pl reads it. */
void print_folded(const struct offwaketime_printer *p, const struct pair_total *t);

/* A JSON line. */
void print_json(const struct offwaketime_printer *p, const struct pair_total *t);
