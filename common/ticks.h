/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processor's counter, of which SPDK stamps the entries of its traces. BPF programs stamp events with CLOCK_MONOTONIC;
 * this converts their times.
 *
 * Both are read together every 100 ms while events come, since the clock is steered: it does not always take the same
 * number of ticks to a second. Between two such readings the error is some nanoseconds.
 */
#ifndef TICKS_H
#define TICKS_H

#include <stdint.h>

struct ticks {
	struct ticks_reading {
		uint64_t tsc, ns;
	} before, last; /* the latest two */
	double rate;    /* ticks per nanosecond, at the start */
	uint64_t jumps; /* how often the counter did not go on as the clock did, as when the machine slept */
};

/* Takes 10 ms. Returns NULL; or, when the kernel does not make the clock from the counter here, what is wrong. */
const char *ticks_start(struct ticks *t);

/* The counter at a time of clock_ns(), which is about now. */
uint64_t ticks_at(struct ticks *t, uint64_t ns);

#endif
