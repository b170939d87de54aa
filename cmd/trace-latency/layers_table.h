/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of --layers. rows has the texts of groups and types, and the interval. */
#pragma once

#include "cells.h"
#include "shares.h"

void layers_table(struct output *to, const struct shares *shares, const struct rows *rows);
