/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the lines of all sources as one timeline, that of the first one, in which requests name their commands. */
#ifndef MERGED_H
#define MERGED_H

#include "match.h"

/*
 * Reads all sources again. Returns 0, or -1 if one of them has faults, which are not all said again. Those that no
 * offset ties to the first one are left out, and counted in *left_out.
 */
int merged_write(struct out *out, const struct match *m, size_t *left_out);

#endif
