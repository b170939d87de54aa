/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef USDT_RECORD_LIBRARIES_H
#define USDT_RECORD_LIBRARIES_H

#include "command.h"
#include "target.h"

/*
 * Adds the command's file and the libraries that its dynamic linker says it would load. Returns 0, or -1
 * having said what is wrong.
 */
int libraries_add(const struct command *c, struct target *t);

#endif
