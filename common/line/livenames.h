/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in the lines of tools that record that other tools read, as spdk-trace-lines(7) and the pages of biosnoop(1)
 * and offcpusnoop(1) document them. The live tools write them, and common/model/ and trace-record read them.
 */
#pragma once

/* The last line of all of them: a trace line with the tool among its args, or a probe line. */
#define LIVE_LOSSES       "LOSSES"
#define LIVE_TOOL         "tool"
#define LIVE_LOSSES_PROBE "losses"

/* The tpoint of biosnoop, and its args. */
#define LIVE_BLOCK_IO "BLOCK_IO"
#define LIVE_DISK     "disk"
#define LIVE_TYPE     "type"
#define LIVE_SECTOR   "sector"
#define LIVE_BYTES    "bytes"
#define LIVE_LATENCY  "latency"

/* The tpoints of offcpusnoop, and the args of both. */
#define LIVE_OFF_CPU  "OFF_CPU"
#define LIVE_IRQ      "IRQ"
#define LIVE_COMM     "comm"
#define LIVE_TID      "tid"
#define LIVE_PID      "pid"
#define LIVE_BEGIN    "begin"
#define LIVE_DURATION "duration"

/* The args of OFF_CPU. */
#define LIVE_WHY        "why"
#define LIVE_YIELDED    "yielded"   /* a value of it: then the CPU went to LIVE_BY */
#define LIVE_THROTTLED  "throttled" /* another: the CPU quota of its cgroup was used up */
#define LIVE_SYSCALL    "syscall"
#define LIVE_BY         "by"
#define LIVE_BY_PID     "by_pid"
#define LIVE_WAKER_COMM "waker_comm"
#define LIVE_WAKER_PID  "waker_pid"
#define LIVE_QUEUED     "queued"
#define LIVE_LATE       "late"
#define LIVE_ON         "unfinished"

/* The args of IRQ. */
#define LIVE_KIND    "kind"
#define LIVE_SOFTIRQ "softirq" /* a value of it */
#define LIVE_NAME    "name"
