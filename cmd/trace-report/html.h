/* SPDX-License-Identifier: BSD-3-Clause */
/* The page as an HTML file, with pictures. It needs no other file, and has no scripts. */
#pragma once

#include "facts.h"

/* page: the text. */
void html_write(struct out *out, struct facts *f, struct slice page);
