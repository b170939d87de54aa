/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels between processes, and the system calls that read from them and write to them. */
#ifndef IPCSNOOP_CHANNELS_H
#define IPCSNOOP_CHANNELS_H

#include "bpf/ipcsnoop.h"

/* Sets the entries of those calls. */
void channels_operations(struct operation operations[NUM_CALLS]);

/* Of an enum ipcsnoop_kind: as in lines, and as the tpoint of a read and of a write. */
extern const struct channels_name {
	const char *name, *tpoint[2];
} channels_names[NUM_CHANNELS];

#endif
