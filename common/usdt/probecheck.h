/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a target has the probes of specs, with the arguments that the specs want. */
#pragma once

#include "probespec.h"
#include "target.h"

/*
 * Returns the number of specs that the target does not fit, after the target's report() of what does not fit. A tsc
 * that is always 0 is reported, but not counted.
 */
size_t probecheck(const struct target *t, const struct probespecs *specs);
