/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows as OpenMetrics 1.0, for Prometheus: three families of histograms, of whole lives, of times to the reply and
 * of states. The labels are those of a row's key.
 */
#pragma once

#include <stdint.h>

#include "out.h"
#include "rows.h"

/* Writes all rows that have values. wall: the time of day of the samples in ns; 0: they have none. */
void openmetrics_write(struct out *out, const struct rows *rows, uint64_t wall);
