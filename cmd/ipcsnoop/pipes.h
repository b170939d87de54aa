/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls that read from pipes and write to them. */
#ifndef IPCSNOOP_PIPES_H
#define IPCSNOOP_PIPES_H

#include "bpf/ipcsnoop.h"

/* Sets the entries of those calls. */
void pipes_operations(struct operation operations[NUM_CALLS]);

#endif
