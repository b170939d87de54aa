/* SPDX-License-Identifier: BSD-3-Clause */
#include "rate.h"

enum { NS = 1000000000 };

bool rate_between(struct rate_point a, struct rate_point b, struct rate_range *range)
{
	unsigned __int128 ticks = (unsigned __int128)(b.tsc - a.tsc) * NS, low, high;
	uint64_t ns = (uint64_t)b.ns - a.ns;

	if (b.tsc <= a.tsc || b.ns <= a.ns || ns < 2)
		return false;
	/* each of the times is rounded by at most half a nanosecond */
	low = ticks / (ns + 1) + 1;
	high = ticks / (ns - 1);
	if (high > UINT64_MAX)
		return false;
	*range = (struct rate_range){low, high};
	return low <= high;
}

uint64_t rate_roundest(struct rate_range range)
{
	uint64_t roundest = range.low, unit = 1;

	while (range.high / unit >= 10) {
		uint64_t multiple;

		unit *= 10;
		multiple = (range.low + unit - 1) / unit * unit;
		if (multiple > range.high || multiple < range.low)
			break;
		roundest = multiple;
	}
	return roundest;
}
