/* SPDX-License-Identifier: BSD-3-Clause */
/* The name that is shown for a span's connection. */
#ifndef TRACE_SPANS_LABEL_H
#define TRACE_SPANS_LABEL_H

#include "spans.h"

/*
 * HOST/QID, where HOST is the end of the host's NQN or the address in the owner; else the owner's number. As written
 * in JSON, and valid until text or the span changes.
 */
struct slice label_of(struct out *text, const struct span *s);

#endif
