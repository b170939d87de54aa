/* SPDX-License-Identifier: BSD-3-Clause */
/* What trace-causes -j prints. */
#ifndef TRACE_CAUSES_PRINT_H
#define TRACE_CAUSES_PRINT_H

#include "answer.h"

/* Prints an object for each finding. Without findings, prints one with the cause "none". */
void print_json(struct out *out, const struct findings *f, const struct answer_options *options);

#endif
