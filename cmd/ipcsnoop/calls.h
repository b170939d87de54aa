/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls of this machine, by the numbers that bpf/ipcsnoop.h gives them. */
#ifndef IPCSNOOP_CALLS_H
#define IPCSNOOP_CALLS_H

#include "bpf/ipcsnoop.h"

enum { CALLS_NAME = 64 };

/* The call's name, with "i386:" or "arm:" before it for 32 bits: the buffer or a constant. */
const char *calls_name(unsigned call, char buffer[CALLS_NAME]);

/* Sets the entries of those calls that may read from a pipe or write to one. */
void calls_at_pipes(struct operation operations[NUM_CALLS]);

#endif
