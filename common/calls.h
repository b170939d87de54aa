/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls of this machine, by the numbers that bpf/calls.h gives them. */
#ifndef CALLS_H
#define CALLS_H

#include "bpf/calls.h"

enum { CALLS_NAME = 64 };

/* The call's name, with "i386:" or "arm:" before it for 32 bits: the buffer or a constant. */
const char *calls_name(unsigned call, char buffer[CALLS_NAME]);

/* The name alone; NULL: no call has this number. */
const char *calls_plain_name(unsigned call);

#endif
