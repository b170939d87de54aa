/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels between processes, and the system calls that read from them and write to them. */
#pragma once

#include "calls.h"

#include "bpf/ipcsnoop.h"

/* Sets the entries of those calls. */
void channels_operations(struct operation operations[NUM_CALLS]);

/* The same for requests of io_uring, by opcode. */
void channels_requests(struct request_operation operations[NUM_REQUESTS]);

/* The name of an event's call: the buffer or a constant. That of a request starts with "io_uring:". */
const char *channels_call_name(unsigned call, char buffer[CALLS_NAME]);

/* Names of an enum ipcsnoop_kind: in lines, and the tpoints of a read and of a write. */
extern const struct channels_name {
	const char *name, *tpoint[2];
} channels_names[NUM_CHANNELS];
