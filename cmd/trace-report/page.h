/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of text. */
#ifndef TRACE_REPORT_PAGE_H
#define TRACE_REPORT_PAGE_H

#include "facts.h"

void page_write(struct out *out, const struct facts *f);

#endif
