/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences of stories: what a request waited for, as far as the trace proves it, each in a line of its own. */
#pragma once

#include "holders.h"
#include "proofs.h"

/* Prints what is known about a request when it started, after its first entry. */
void sentences_first(const struct proofs *p, struct out *out, const struct span *s);

/* Prints a line for each cause of the gap, in ns, before the span's state n. silent: its lcore wrote nothing. */
void sentences_proven(const struct proofs *p, struct out *out, const struct span *s, size_t n, uint64_t gap,
		      bool silent);

/* Prints a line for each cause of what an open span still waits for. */
void sentences_open(const struct proofs *p, struct out *out, const struct span *s);

/*
 * Prints each known cause of a wait, at least one. Returns whether the lcore wrote nothing for at least half of it, or
 * entries of it are missing.
 */
bool sentences_wait(struct holders *h, struct out *out, const struct waits *waits, const struct wait *wait);

/* Prints the name of the bdev of a bdev I/O. */
void sentences_put_bdev(struct out *out, const struct span *s);
