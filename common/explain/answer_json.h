/* SPDX-License-Identifier: BSD-3-Clause */
/* What was found, as JSON lines: an object for each finding, or one with the cause "none". */
#pragma once

#include "answer.h"

void answer_json(struct out *out, const struct findings *f, const struct answer_options *options);

/* Writes the members that say what a row of the ledger is about. */
void answer_json_resource(struct out *out, const struct tally *t, enum fact fact, uint32_t of, uint32_t who);
