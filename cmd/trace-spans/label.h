/* SPDX-License-Identifier: BSD-3-Clause */
/* How people call the connection of a span. */
#ifndef TRACE_SPANS_LABEL_H
#define TRACE_SPANS_LABEL_H

#include "spans.h"

/*
 * HOST/QID: the end of the host's NQN, or the address in an owner; else the owner's number. As written in JSON, and
 * valid until text or the span changes.
 */
struct slice label_of(struct out *text, const struct span *s);

#endif
