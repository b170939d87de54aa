/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * While lines are read, shows the progress on a terminal, and flushes the output before each wait
 * for input.
 */
#pragma once

#include "lines.h"
#include "progress.h"

struct out;

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
