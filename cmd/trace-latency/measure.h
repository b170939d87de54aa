/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how long the objects of trace lines stay in each state, and live. */
#ifndef TRACE_LATENCY_MEASURE_H
#define TRACE_LATENCY_MEASURE_H

#include "group.h"
#include "lifecycle.h"
#include "rows.h"

struct measure {
	/* set before measure_lines() */
	bool related;      /* entries of related objects are states of those they are related to, up to the request */
	uint64_t interval; /* nanoseconds; 0: none */
	struct group *group;
	struct out *out;
	void (*print)(const struct rows *rows, struct out *out); /* prints an interval */

	struct rows *rows; /* the times that were measured; with intervals, those of the latest one */

	/* of the file that was measured last */
	struct lifecycle lifecycle;
	uint32_t *touched; /* indexes of the objects that have entries in the interval, each once */
	size_t num_touched, cap_touched;
	uint64_t lines;
	uint64_t measured; /* entries */

	/* what could not be measured */
	uint64_t single_entry; /* objects with no entry but their creation */
	uint64_t in_progress;  /* objects that were in progress at the end */
	uint64_t late;         /* lives whose end became known after their interval */
	uint64_t cut_short;    /* lives that were recorded, and went on */
};

/*
 * Measures the lines of a file, in addition to those of earlier files. Returns 0, or -1 after a
 * message. A file that cannot be opened ends the tool.
 */
int measure_lines(struct measure *m, const char *path);

void measure_free(struct measure *m);

#endif
