/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans for OpenTelemetry: each request with all spans below it as one line, an ExportTraceServiceRequest in the JSON
 * encoding of OTLP. Ids are hashes of what identifies a span, so the same trace always has the same ids.
 */
#ifndef TRACE_SPANS_OTLP_H
#define TRACE_SPANS_OTLP_H

#include <stdint.h>

#include "out.h"
#include "print.h"
#include "traceline.h"

/* All zero at first. */
struct otlp {
	struct print *print;
	uint64_t offset; /* from the time of the lines to that of day, in ns, modulo 2^64; 0 without one */
	struct out name; /* of an attribute */
};

/* Sees a line before the spans that it ends are written. */
void otlp_line(struct otlp *o, const struct traceline *line);

/* Writes a span that has no parent, with its newline. */
void otlp_write(struct otlp *o, struct out *out, const struct span *root);

void otlp_free(struct otlp *o);

#endif
