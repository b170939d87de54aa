/* SPDX-License-Identifier: BSD-3-Clause */
/* The slowest requests. */
#pragma once

#include "facts.h"

/* As lines of a page. */
void page_slowest(struct out *out, const struct facts *f);

/* With their stories; or their span lines. */
void page_stories(struct out *out, struct facts *f, bool as_lines);
