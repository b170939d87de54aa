/* SPDX-License-Identifier: BSD-3-Clause */
/* The times of a live tool's events, as printed in its lines. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "ticks.h"
#include "wall.h"

/* See recorder_stamp(). */
struct stamp {
	struct ticks *ticks; /* for the tsc of trace lines; NULL: tsc is in ns of the clock */
	struct ticks *wall;  /* for the time of day; NULL: not wanted */
	struct wall text;
	uint64_t first_ns; /* end of the first event; 0: none so far */
};

/* Nanoseconds since the first event. Events of several CPUs may be out of order. */
int64_t stamp_since(struct stamp *s, uint64_t ns);

/* The tsc of a time of the clock. */
uint64_t stamp_tsc(struct stamp *s, uint64_t ns);

/* Writes the start of a trace line: {"tsc":1000,"us":0.000 and perhaps ,"time":"2026-11-21T13:14:15.123456789Z" */
void stamp_json(struct stamp *s, struct out *out, uint64_t ns);

/* Writes the first column, the time of day of an event, if that is wanted. */
void stamp_column(struct stamp *s, struct out *out, uint64_t ns);
