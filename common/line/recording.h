/* SPDX-License-Identifier: BSD-3-Clause */
/* The files in the folder of a recording, and the keys of the objects in RECORDING_PARTS: spdk-trace-lines(7). */
#pragma once

#define RECORDING_README "README"
#define RECORDING_PARTS  "parts.jsonl"
#define RECORDING_TRACE  "trace.bin"
#define RECORDING_USDT   "usdt.txt"
#define RECORDING_OFFCPU "offcpu.jsonl"
#define RECORDING_BIO    "bio.jsonl"
#define RECORDING_DMESG  "dmesg.txt"
#define RECORDING_RPC    "rpc.jsonl"
#define RECORDING_SLOW   "trigger.jsonl"
#define RECORDING_KERNEL "kernel.jsonl"

/* in each object */
#define RECORDING_PART    "part"
#define RECORDING_STATUS  "status"
#define RECORDING_DONE    "done"
#define RECORDING_FAILED  "failed"  /* there may be a file, with less than all */
#define RECORDING_MISSING "missing" /* it was not recorded: there is no file */

/* where they apply */
#define RECORDING_FILE    "file"
#define RECORDING_COMMAND "command"
#define RECORDING_SINCE   "since"
#define RECORDING_WHY     "why"
#define RECORDING_LOST    "lost"
#define RECORDING_NOTES   "notes"

/*
 * Of the part rpc: RECORDING_WHY where the target has answered nothing, or what that ends with, after the method that
 * it did not answer; and the message in the error of that call.
 */
#define RECORDING_LATE "no reply within 2 seconds"

/* of the object whose part is RECORDING_TARGET */
#define RECORDING_TARGET     "target"
#define RECORDING_PID        "pid"
#define RECORDING_NAME       "name"
#define RECORDING_TRACE_NAME "trace"
#define RECORDING_STARTED    "started"
#define RECORDING_ENDED      "ended"

/* of a line of RECORDING_KERNEL */
#define RECORDING_WHEN        "when"
#define RECORDING_START       "start" /* of the recording */
#define RECORDING_END         "end"
#define RECORDING_STATE       "state"
#define RECORDING_SYSCALL     "syscall"
#define RECORDING_TRACER      "tracer"
#define RECORDING_TRACER_NAME "tracer_name"
#define RECORDING_RAN         "ran"
#define RECORDING_CGROUP      "cgroup"

/* of the object whose part is RECORDING_TRIGGER */
#define RECORDING_TRIGGER  "trigger"
#define RECORDING_MIN_US   "min_us"
#define RECORDING_REQUESTS "requests"
#define RECORDING_SLOWEST  "slowest"
