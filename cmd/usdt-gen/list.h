/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of usdt-gen -l. */
#pragma once

#include "out.h"
#include "target.h"

/* Writes a line for every probe of each file, in the order of names. */
void list_probes(struct out *out, const struct target *t);
