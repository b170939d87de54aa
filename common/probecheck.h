/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a target has the probes of specs, with the arguments that the specs want. */
#ifndef PROBECHECK_H
#define PROBECHECK_H

#include "probespec.h"
#include "target.h"

/* Returns the number of specs that the target does not have, after a message for each. */
size_t probecheck(const struct target *t, const struct probespecs *specs);

#endif
