/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a page: what was recorded, and commands that read it again. */
#pragma once

#include "facts.h"

void page_recorded(struct out *out, const struct facts *f);

/* The command that makes this report again, up to the argument of --story. */
void page_put_report(struct out *out, const struct facts *f);

void page_commands(struct out *out, const struct facts *f);
