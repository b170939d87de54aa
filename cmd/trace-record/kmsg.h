/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's messages from the time of a recording. */
#ifndef TRACE_RECORD_KMSG_H
#define TRACE_RECORD_KMSG_H

#include <stdint.h>

#include "out.h"

/* Starts after the latest message. Returns a descriptor, or -1 with errno. */
int kmsg_open(void);

/* Writes the messages since then, as dmesg(1) does. *lost: how often some were overwritten before. */
void kmsg_read(int fd, struct out *out, uint64_t *lost);

#endif
