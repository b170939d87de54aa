/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of --rates. rows has the texts of groups and types, and the interval. ns:
 * the time in which the requests ended; slot: that of a peak.
 */
#pragma once

#include "cells.h"
#include "rates.h"

void rates_table(struct output *to, const struct rates *rates, const struct rows *rows, uint64_t ns, uint64_t slot);
