/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises an SPDK trace file, of any release.
 *
 * Six layouts exist (docs call them G1 to G6); none has a magic number or a version field, so a
 * layout is recognised by what the others cannot have. Every offset, count and index is checked
 * against the file's size here, so that the trace can be used without checks.
 */
#pragma once

#include "trace.h"

struct input;

/*
 * Recognises the layout and fills t, which points into the input's data. Returns 0, even for a
 * damaged or truncated file if some of it can be read (see faults and cut_off); or -1 with what is
 * wrong in *error, NULL if it is the input's error. Call trace_close() after 0.
 */
int tracefile_open(struct trace *t, struct input *in, const char **error);
