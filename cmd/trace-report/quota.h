/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU quotas of a target, by what the kernel counted from the start of the recording to its end. */
#pragma once

#include "out.h"
#include "slice.h"

/* Writes a line for each control group whose quota was used up. kernel: lines of kernel.jsonl. */
void quota_put(struct out *out, struct slice kernel);
