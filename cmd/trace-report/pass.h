/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one pass over the trace: its entries, with the lines of other tools between them, are named, assembled to spans
 * and counted.
 */
#pragma once

#include "facts.h"

/*
 * Reads the trace, or trace lines, as long as nothing is wrong with the output. pictures: f->series is wanted. Returns
 * whether all of it was good, else after a message.
 */
bool pass_run(struct facts *f, bool pictures, struct out *out);
