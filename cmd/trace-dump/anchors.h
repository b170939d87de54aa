/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What time of day it was at the ticks of a trace, from anchors: moments at which both were read, by usdt-record for
 * its clock lines (spdk-trace-lines(7)), or now, on the machine that writes the trace.
 */
#ifndef TRACE_DUMP_ANCHORS_H
#define TRACE_DUMP_ANCHORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ticks.h"

struct anchors {
	bool are_live; /* those of ticks, which go on; else all */
	struct ticks ticks;
	struct ticks_reading *all; /* one or more, in the order of their ticks */
	size_t n, cap;
};

/* Reads the clock lines of a file of probe lines. Returns 0; or, after a message, -1. */
int anchors_read(struct anchors *a, const char *path);

/*
 * Reads the clocks of this machine, for the trace at this path: a file where its applications write theirs. Takes 0.2
 * s. Returns 0; or, after a message, -1.
 */
int anchors_take(struct anchors *a, const char *path);

/*
 * Whether the anchors can be of the machine that wrote the trace of this name with this rate, in ticks per second; says
 * so when not.
 */
bool anchors_check_rate(const struct anchors *a, uint64_t rate, const char *name);

/* Ticks per second of CLOCK_MONOTONIC; 0: unknown, as there is a single anchor. */
uint64_t anchors_rate(const struct anchors *a);

/*
 * Nanoseconds of CLOCK_REALTIME at these ticks. Before the first and after the last anchor, ticks go on at the rate of
 * the nearest two; with a single one, at this rate.
 */
uint64_t anchors_time(struct anchors *a, uint64_t tsc, uint64_t rate);

/* The ticks of a trace, and how many there are in a second. */
struct anchors_range {
	uint64_t first, last, rate;
};

/*
 * Reports why the times of the trace of this name may be wrong. Returns whether they can be right. quiet: as in
 * cli_notice().
 */
bool anchors_report(const struct anchors *a, struct anchors_range trace, const char *name, bool quiet);

void anchors_free(struct anchors *a);

#endif
