/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a person, or the next tool in a pipeline, sees while lines are read: a progress display on a
 * terminal, and output that is flushed before input has to be waited for.
 */
#ifndef INTERACTIVE_H
#define INTERACTIVE_H

#include "lines.h"
#include "progress.h"

struct out;

struct interactive {
	struct progress progress;
	struct out *out; /* NULL: none to flush */

	/* is called for each INTERACTIVE_TICK_MS that no line comes; NULL: not wanted; set after the start */
	void (*pause)(void *context);
	void *context;
};

enum { INTERACTIVE_TICK_MS = 100 };

/* Becomes the hook of these lines, which have just been opened; must outlive them. */
void interactive_start(struct interactive *i, struct lines *l, struct out *out);

#endif
