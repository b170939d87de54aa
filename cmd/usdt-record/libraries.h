/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "command.h"
#include "target.h"

/* Adds the command's file and its libraries, as listed by its dynamic linker. Returns 0 or -1. */
int libraries_add(const struct command *c, struct target *t);
