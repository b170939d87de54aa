/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes about the entries of a trace that were left out or are incomplete. */
#pragma once

#include <stdbool.h>

struct reader;
struct us;

/* Prints them on stderr, unless quiet. The reader has read the trace of this name; followed: while it was written. */
void losses_note(const struct reader *r, const struct us *us, const char *name, bool followed, bool quiet);
