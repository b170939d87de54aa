/* SPDX-License-Identifier: BSD-3-Clause */
/* What was found, as JSON lines: an object for each finding, or one with the cause "none". */
#pragma once

#include "answer.h"

void answer_json(struct out *out, const struct findings *f, const struct answer_options *options);
