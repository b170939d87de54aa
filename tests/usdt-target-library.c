/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared library of usdt-target: a probe that is guarded by a semaphore. */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "usdt-target.h"

volatile unsigned short spdk_guarded_semaphore __attribute__((section(".probes")));

static void __attribute__((constructor)) fire_early(void)
{
	if (spdk_guarded_semaphore)
		DTRACE_PROBE2(spdk, guarded, 6, "constructor");
}

unsigned fire_guarded(void)
{
	if (spdk_guarded_semaphore)
		DTRACE_PROBE2(spdk, guarded, 7, "library");
	return spdk_guarded_semaphore;
}
