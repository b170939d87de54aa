/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probes in an SPDK source tree: the SPDK_DTRACE_PROBE macros of include/spdk_internal/usdt.h.
 *
 *	SPDK_DTRACE_PROBE<n>(name, ...)		argument 0 is 0; until v23.01 the time in ticks
 *	SPDK_DTRACE_PROBE<n>_TICKS(name, ...)	since v23.05: argument 0 is the time in ticks
 *
 * n is the number of arguments after argument 0. It is left out when there are no such arguments.
 */
#ifndef USDT_GEN_SOURCE_H
#define USDT_GEN_SOURCE_H

#include "target.h"

/* Reads every .c and .h file below a directory. Returns 0, or -1 after a message. */
int source_read(struct target *t, const char *directory);

#endif
