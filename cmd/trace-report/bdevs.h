/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the target says of its bdevs: rate limits and members of RAIDs, from the answer to bdev_get_bdevs, and how long
 * members took, from those to bdev_get_iostat. In a bdev that is near its limit, requests wait for that; in one with a
 * member that is slower than another, for that member.
 */
#pragma once

#include "requests.h"

/* Marks requests and bdevs accordingly; after all requests, before they are measured. */
void bdevs_mark(struct requests *requests, struct slice rpc);
