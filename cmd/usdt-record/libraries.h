/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef USDT_RECORD_LIBRARIES_H
#define USDT_RECORD_LIBRARIES_H

#include "command.h"
#include "target.h"

/* Adds the command's file and its libraries, as listed by its dynamic linker. Returns 0 or -1. */
int libraries_add(const struct command *c, struct target *t);

#endif
