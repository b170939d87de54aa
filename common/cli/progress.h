/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows the progress of long work: one line on stderr, once a second, after the first second. Only
 * when stderr is a terminal and standard output is not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lines.h"

struct out;

struct progress {
	bool wanted, shown;
	uint64_t next; /* when to show it, in nanoseconds of clock_ns() */
};

void progress_start(struct progress *p);

/*
 * Shows done of total, which is 0 if it is unknown. unit: "entries", or NULL for bytes, which are shown as MB. Call it
 * every few milliseconds, or less often.
 */
void progress_show(struct progress *p, uint64_t done, uint64_t total, const char *unit);

/* Clears the line. Call it before writing anything else to stderr. */
void progress_end(struct progress *p);

/* While lines are read, shows the progress, and flushes the output before each wait for input. */
struct interactive {
	struct progress progress;
	struct out *out; /* NULL: nothing to flush */

	/* called every INTERACTIVE_TICK_MS without input, unless NULL; set it after interactive_start() */
	void (*pause)(void *context);
	void *context;
};

enum { INTERACTIVE_TICK_MS = 100 };

/* Installs the hook of these lines, which were just opened. i must outlive them. */
void interactive_start(struct interactive *i, struct lines *l, struct out *out);
