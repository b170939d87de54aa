/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences of stories about the causes that proofs.h finds. */
#ifndef TRACE_SPANS_PROOFS_TEXT_H
#define TRACE_SPANS_PROOFS_TEXT_H

#include "proofs.h"

/* Prints what is known about a request when it started, after its first entry. */
void proofs_text_first(const struct proofs *p, struct out *out, const struct span *s);

/* Prints a line for each cause of the gap, in ns, before the span's state n. silent: its lcore wrote nothing. */
void proofs_text(const struct proofs *p, struct out *out, const struct span *s, size_t n, uint64_t gap, bool silent);

/* Prints a line for each cause of what an open span still waits for. */
void proofs_text_open(const struct proofs *p, struct out *out, const struct span *s);

#endif
