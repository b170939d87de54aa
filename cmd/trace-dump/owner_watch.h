/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of trace-dump -F -O, after those of the owners that are registered. */
#pragma once

#include <stdbool.h>

struct out;
struct reader;
struct rings;

/*
 * Writes each owner that is registered or changes from now on, until rings_have_ended(). Returns false, after a
 * message, if it could not follow them until then.
 */
bool owner_watch(struct out *out, const struct reader *r, const struct rings *rings, const char *name);
