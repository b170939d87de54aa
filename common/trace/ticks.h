/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts between the processor's counter, which stamps the entries of SPDK's traces, CLOCK_MONOTONIC, which stamps
 * the events of BPF programs, and CLOCK_REALTIME, the time of day.
 *
 * All are read together repeatedly, because the rate of the clocks is adjusted: the ticks per second vary. Between two
 * readings the error is some nanoseconds or, if the rate changed, the change over the time to the nearer reading. After
 * the last reading it is the same.
 */
#pragma once

#include <stdint.h>

struct ticks {
	struct ticks_reading {
		uint64_t tsc;
		uint64_t ns;           /* of CLOCK_MONOTONIC */
		uint64_t wall;         /* of CLOCK_REALTIME, in nanoseconds */
		uint64_t raw_tsc, raw; /* the counter at a time of CLOCK_MONOTONIC_RAW, and that time in ns */
	} before, last;                /* the latest two */
	double rate;                   /* ticks per nanosecond of CLOCK_MONOTONIC_RAW; 0: unknown */
	uint64_t jumps; /* how often the counter and CLOCK_MONOTONIC_RAW diverged, as when the machine slept */
	uint64_t steps; /* how often the time of day was set */
};

/*
 * Takes 10 ms. Returns NULL; or, if the kernel's clock is not based on the counter, what is wrong, with errno or 0.
 * Then only ticks_wall() can be used, as with a struct that is all zero.
 */
const char *ticks_start(struct ticks *t);

/* The counter at a time of clock_ns(), which is about now. */
uint64_t ticks_at(struct ticks *t, uint64_t ns);

/*
 * The time of clock_ns() at which the counter was tsc. For a time long before ticks_start(), the error is that of the
 * measured rate: about a millionth of the time since then.
 */
uint64_t ticks_ns(struct ticks *t, uint64_t tsc);

/* The time of day at a time of clock_ns(): ticks_wall(t, ticks_ns(t, tsc)) is that of a trace entry. */
uint64_t ticks_wall(struct ticks *t, uint64_t ns);

/*
 * Reads all again, unless the last reading is less than 1 ms old: times until now are then between two readings, and
 * jumps and steps are up to date. The conversions call it if the last reading is more than 100 ms old.
 */
void ticks_renew(struct ticks *t);

/* Reads all now. */
struct ticks_reading ticks_now(void);
