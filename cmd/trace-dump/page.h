/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of trace-dump -i, for people. Its lines have at most 80 columns. */
#ifndef TRACE_DUMP_PAGE_H
#define TRACE_DUMP_PAGE_H

#include "info.h"

void page_write(struct out *out, const struct info *info);

#endif
