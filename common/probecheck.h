/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the probes of specs are in the files of a target, and have what the specs want of them. */
#ifndef PROBECHECK_H
#define PROBECHECK_H

#include "probespec.h"
#include "target.h"

/* Returns the number of specs for which that is not so, after a message for each. */
size_t probecheck(const struct target *t, const struct probespecs *specs);

#endif
