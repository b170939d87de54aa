/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <time.h>

enum { NS_A_MS = 1000000 };

static inline uint64_t clock_ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

/* Nanoseconds of CLOCK_MONOTONIC, like bpf_ktime_get_ns(). */
static inline uint64_t clock_ns(void)
{
	return clock_ns_of(CLOCK_MONOTONIC);
}

/* Nanoseconds of CLOCK_MONOTONIC_RAW, which NTP does not adjust. */
static inline uint64_t clock_raw_ns(void)
{
	return clock_ns_of(CLOCK_MONOTONIC_RAW);
}

/* Nanoseconds of CLOCK_REALTIME: the time of day. */
static inline uint64_t clock_wall_ns(void)
{
	return clock_ns_of(CLOCK_REALTIME);
}

static inline uint64_t clock_ms(void)
{
	return clock_ns() / NS_A_MS;
}
