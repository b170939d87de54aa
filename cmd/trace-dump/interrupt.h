/* SPDX-License-Identifier: BSD-3-Clause */
/* The signals that end trace-dump -F. */
#ifndef TRACE_DUMP_INTERRUPT_H
#define TRACE_DUMP_INTERRUPT_H

#include <stdbool.h>

/*
 * Makes the first SIGINT, SIGTERM or SIGHUP a request to end; the second one ends the tool at once.
 * Those that are ignored stay so, as nohup(1) and background jobs of a script want it.
 */
void interrupt_catch(void);

/* Whether one has come. */
bool interrupt_pending(void);

#endif
