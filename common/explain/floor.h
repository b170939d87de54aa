/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers from which on something counts, with their reasons. What explains has no others. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	FLOOR_EVENTS = 5, /* fewer of a kind are no group, and prove nothing about what they have in common */
	FLOOR_TIMES = 4,  /* slow is four times the usual: chance alone doubles a time, and seldom does more */
	FLOOR_SHARE = 5,  /* a fifth of the time explains it, and so does such a difference between shares */
	FLOOR_MINOR = 10, /* a tenth is a small part, and the weight of what may be as it should */
	FLOOR_PART = 20,  /* a twentieth of all time is worth a line */

	FLOOR_CHANCE = 100, /* a probability below 1 % is not chance: a page has few tests, and is read every day */

	FLOOR_CPU_NS = 5 * 1000,         /* no device is faster: less is work of the CPU */
	FLOOR_ROUND_TRIP_NS = 20 * 1000, /* on a local network: of less, no host notices much */
	FLOOR_DEVICE_NS = 500 * 1000,    /* flash takes less, however old or far away in a building it is */
	FLOOR_STALL_NS = 1000 * 1000,    /* the longest work on one request, copies of data, takes less */
};

/* Whether time that n slow requests lost matters: a part of all time, a large one of a few, or several stalls. */
static inline bool floor_matters(double ns, uint64_t n, double total)
{
	if (n < FLOOR_EVENTS)
		return ns >= FLOOR_STALL_NS && ns >= total / FLOOR_SHARE;
	return ns >= (double)FLOOR_EVENTS * FLOOR_STALL_NS || ns >= total / FLOOR_PART;
}
