/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of --reactors. Ends the interval, or the last one. */
#pragma once

#include "cells.h"
#include "lcore_rows.h"

void lcores_table(struct output *to, struct lcore_rows *rows, bool last);
