/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data buffers that requests of hosts wanted and had, by pool: how many were wanted at once, how many were there,
 * and how large a pool would have been enough.
 */
#pragma once

#include "spanline.h"
#include "spans.h"

/* All zero at first. Memory grows with requests, up to REQUESTS_MAX. */
struct pools {
	struct pools_use {
		uint64_t wanted, got, end; /* ns; UINT64_MAX: not in the trace */
		uint64_t blocks;           /* 0: not known, as it has no I/O so far */
		uint32_t bdev;             /* in bdevs */
	} * all;
	size_t n, cap;
	struct intern bdevs;
};

/* Sees a request that has ended or is in flight at the end, with its line. */
void pools_see(struct pools *p, const struct spans *spans, const struct span *s, const struct spanline *line);

/*
 * Writes lines about the pools that were too small. rpc: what the target says of itself; more: buffers that requests in
 * flight would have wanted besides.
 */
void pools_write(struct out *out, const struct pools *p, struct slice rpc, uint64_t more);

void pools_free(struct pools *p);
