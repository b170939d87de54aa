/* SPDX-License-Identifier: BSD-3-Clause */
/* Bdev I/Os that were at work at the same time below one object, such as the legs of a RAID. */
#pragma once

#include "spans.h"

/* Of the siblings of s that were at work at the same time, the one that ends last. NULL: none. s has a parent. */
const struct span *legs_rival(const struct spans *spans, const struct span *s);

/* A leg for which the tree of a span waited alone. */
struct legs_last {
	const struct span *leg, *rival;
	uint64_t ns; /* from the end of the rival to that of the leg */
};

/* Finds the longest such time. Returns false if no leg was waited for alone. */
bool legs_find_last(const struct spans *spans, const struct span *s, struct legs_last *last);
