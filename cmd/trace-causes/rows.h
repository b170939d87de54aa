/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the ledger as lines: those of several traces can be added up by their keys. */
#pragma once

#include "tally.h"

/* Writes all rows of TALLY_LEDGER, those with most time first: with tabs and a heading, or as JSON lines. */
void rows_write(struct out *out, const struct tally *t, const struct requests *requests, bool json);
