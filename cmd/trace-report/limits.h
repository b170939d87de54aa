/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rate limits that the target says its bdevs have, from the answer to bdev_get_bdevs: what requests wait for in a bdev
 * that is near its limit is the limit, not the device.
 */
#ifndef TRACE_REPORT_LIMITS_H
#define TRACE_REPORT_LIMITS_H

#include "requests.h"

/* Marks the bdevs whose requests come near a limit; after all requests, before they are measured. */
void limits_mark(struct requests *requests, struct slice rpc);

#endif
