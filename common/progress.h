/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells a person at a terminal how far long work has come: one line on stderr, once a second, from the
 * second second on, and only while the data goes somewhere else than to a terminal.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool wanted, shown;
	uint64_t next; /* when to show it, in nanoseconds of the monotonic clock */
};

void progress_start(struct progress *p);

/* Call it now and then, every few milliseconds or less often: done of total, which is 0 when not known. */
void progress_show(struct progress *p, uint64_t done, uint64_t total, const char *unit);

/* Takes the line away. Call it before anything else is written to stderr. */
void progress_end(struct progress *p);

#endif
