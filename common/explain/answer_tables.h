/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of an answer: where the time of slow requests is, what they have in common, and whom they waited for. */
#pragma once

#include "columns.h"
#include "findings.h"
#include "means.h"

/* Writes tables for people, each after an empty line. m: of this set of f. */
void answer_tables(struct out *out, const struct findings *f, enum slow slow, const struct means *m,
		   const struct terminal *terminal);

/* Writes who waited for whom, by the rows of a set. */
void answer_tables_owed(struct out *out, const struct tally *t, uint32_t set, const struct terminal *terminal);

/* Writes a JSON array: all rows of who waited for what, which add up to the lives. */
void answer_tables_json(struct out *out, const struct findings *f, enum slow slow);

/* A name in JSON; absent if it is not known. */
static inline struct column_value answer_tables_name(const struct tally *t, uint32_t name)
{
	return columns_if(name != MAP_NONE, columns_string(tally_name(t, name)));
}
