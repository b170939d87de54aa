/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the span lines of slow requests, and what they have in common: an incident. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "out.h"

/* Slow requests that are recorded together. */
struct incident {
	uint64_t requests;
	uint64_t slowest;  /* nanoseconds */
	uint64_t open;     /* of the requests: those that were in flight when they were seen, and may still be */
	uint64_t since;    /* nanoseconds of the time of day when the first one was seen */
	uint64_t first;    /* the same in milliseconds of clock_ms() */
	uint64_t seen;     /* when the latest one was */
	struct out lines;  /* their span lines, the first ones */
	uint64_t left_out; /* lines that came later */
};

struct watch {
	int fd;          /* not blocking; -1: none */
	struct out line; /* read so far */
};

/* Adds the requests whose lines can be read now. stuck_ns: from this life on, they were seen before they ended. */
void watch_read(struct watch *w, struct incident *incident, uint64_t stuck_ns);

/* Closes it. Part of a line is dropped. */
void watch_close(struct watch *w);

void incident_clear(struct incident *incident);
