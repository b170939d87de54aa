/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processor's counter, which stamps the entries of SPDK's traces, and the clocks. BPF programs stamp events
 * with CLOCK_MONOTONIC, the time of day is CLOCK_REALTIME: this converts them.
 *
 * They are read together repeatedly, since the clocks are steered: a second does not always have the same number of
 * ticks. Between two such readings the error is some nanoseconds; or, where the steering changed, by how
 * much it did over the time to the nearer one. After the last one it is the same.
 */
#ifndef TICKS_H
#define TICKS_H

#include <stdint.h>

struct ticks {
	struct ticks_reading {
		uint64_t tsc;
		uint64_t ns;           /* of CLOCK_MONOTONIC */
		uint64_t wall;         /* of CLOCK_REALTIME, in nanoseconds */
		uint64_t raw_tsc, raw; /* the counter at the time of a clock that is not steered, and its nanoseconds */
	} before, last;                /* the latest two */
	double rate;                   /* ticks per nanosecond of the clock that is not steered; 0: not known */
	uint64_t jumps; /* how often the counter did not go on as the clock did, as when the machine slept */
	uint64_t steps; /* how often the time of day was set */
};

/*
 * Takes 10 ms. Returns NULL; or, when the kernel does not make the clock from the counter here, what is wrong, with
 * errno or 0: only ticks_wall() can then be used, as with a struct that is all zero.
 */
const char *ticks_start(struct ticks *t);

/* The counter at a time of clock_ns(), which is about now. */
uint64_t ticks_at(struct ticks *t, uint64_t ns);

/*
 * The time of clock_ns() at which the counter was tsc. Of a time long before ticks_start() it is as exact as the rate
 * was measured: about a millionth of how long ago it was.
 */
uint64_t ticks_ns(struct ticks *t, uint64_t tsc);

/* The time of day at a time of clock_ns(): ticks_wall(t, ticks_ns(t, tsc)) is that of an entry of a trace. */
uint64_t ticks_wall(struct ticks *t, uint64_t ns);

/*
 * Reads all once more, unless it was done in this millisecond: times until now are then between two readings, and jumps
 * and steps are those until now. The conversions call it when 100 ms have passed.
 */
void ticks_renew(struct ticks *t);

/* What all show now. */
struct ticks_reading ticks_now(void);

#endif
