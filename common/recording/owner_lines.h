/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of trace-dump -O: the owners of a trace. */
#pragma once

struct out;
struct reader;
struct trace_owner;

/* Writes the registered owners, with their connections. */
void owner_lines_write(struct out *out, const struct reader *r);

/* All but the end of an owner's line. prefix: the letter of its type, 0 when it has none. */
void owner_lines_start(struct out *out, unsigned id, char prefix, const struct trace_owner *owner);
