/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of text. */
#ifndef TRACE_REPORT_PAGE_H
#define TRACE_REPORT_PAGE_H

#include "facts.h"
#include "terminal.h"

/* As wide as the terminal; with colours if that has them. */
void page_write(struct out *to, struct facts *f, const struct terminal *terminal);

#endif
