/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts the ticks of a trace to times of day. An anchor is a moment at which both were read: by usdt-record, for its
 * clock lines (spdk-trace-lines(7)), or now, on the machine that writes the trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ticks.h"

struct anchors {
	bool are_live; /* the anchors are in ticks, and are renewed; else they are in all */
	struct ticks ticks;
	struct ticks_reading *all; /* one or more, in the order of their ticks */
	size_t n, cap;
};

/* Reads the clock lines of a file of probe lines. Returns 0, or -1 after a message. */
int anchors_read(struct anchors *a, const char *path);

/*
 * Reads the clocks of this machine, for 0.2 s. The trace at this path must be where applications write theirs: in a
 * folder /dev/shm. Returns 0, or -1 after a message.
 */
int anchors_read_clocks(struct anchors *a, const char *path);

/*
 * Whether the anchors can be from the machine that wrote the trace of this name, whose rate is in ticks per second.
 * Prints a message if not.
 */
bool anchors_check_rate(const struct anchors *a, uint64_t rate, const char *name);

/* Ticks per second of CLOCK_MONOTONIC; 0: unknown, because there is only one anchor. */
uint64_t anchors_rate(const struct anchors *a);

/*
 * Nanoseconds of CLOCK_REALTIME at these ticks. Before the first and after the last anchor, the rate of the nearest two
 * applies; if there is only one anchor, the given rate.
 */
uint64_t anchors_time(struct anchors *a, uint64_t tsc, uint64_t rate);

/* The first and last ticks of a trace, and its ticks per second. */
struct anchors_range {
	uint64_t first, last, rate;
};

/*
 * Reports why the times of the trace of this name may be wrong. quiet: as in cli_notice(). Returns false if the times
 * are unreliable.
 */
bool anchors_report(const struct anchors *a, struct anchors_range trace, const char *name, bool quiet);

void anchors_free(struct anchors *a);
