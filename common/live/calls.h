/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of this machine's system calls, by their numbers in bpf/calls.h. */
#pragma once

#include "bpf/calls.h"

enum { CALLS_NAME = 64 };

/* The call's name, prefixed with "i386:" or "arm:" if it is a 32-bit call. Returns the buffer or a constant. */
const char *calls_name(unsigned call, char buffer[CALLS_NAME]);

/* The name without a prefix; NULL: no call has this number. */
const char *calls_plain_name(unsigned call);
