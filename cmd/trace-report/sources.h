/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what was recorded. What is not there is left out; what is there and cannot be read is left out after a message,
 * and facts.unread has it for the page.
 */
#ifndef TRACE_REPORT_SOURCES_H
#define TRACE_REPORT_SOURCES_H

#include "facts.h"

/* From the operands, or the process f->pid. A mistake in these is a usage error. */
void sources_find(struct facts *f, int argc, char **argv);

/* Leaves out lines of other tools whose times are not the trace's, which f->info is about. */
void sources_check_clocks(struct facts *f);

#endif
