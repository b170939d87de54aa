/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0 */
/* The ring that carries a program's events to user space. */
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "wakeup.h"

const volatile __u32 watermark; /* bytes in the ring at which its reader is woken */

__u64 lost;   /* events for which there was no room */
__u32 wakeup; /* enum wakeup */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

/* Whether the reader is woken for the next event. */
static __u64 ring_flags(void)
{
	__u32 when = wakeup;

	if (when == WAKE_NOW ||
	    (when == WAKE_AT_WATERMARK && bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > watermark)) {
		wakeup = WAKE_NEVER;
		return BPF_RB_FORCE_WAKEUP;
	}
	return BPF_RB_NO_WAKEUP;
}

/* Returns whether there was room. */
static bool ring_send(void *event, __u64 size)
{
	if (bpf_ringbuf_output(&events, event, size, ring_flags()) == 0)
		return true;
	__sync_fetch_and_add(&lost, 1);
	return false;
}
