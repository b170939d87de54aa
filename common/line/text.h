/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace lines as text for people, in the form of trace.py; spdk-trace-lines(7) describes it. */
#pragma once

#include "out.h"
#include "traceline.h"

/* Writes a line of n bytes. The notes of its arguments are lifetimes or NULL. */
void text_write(struct out *out, const struct traceline *line, size_t n);
