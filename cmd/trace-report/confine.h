/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Root's trace-report, and the tools that it starts, parse what others wrote. So they run as a user whom nobody else
 * is: with CAP_DAC_READ_SEARCH, or CAP_DAC_OVERRIDE if root lacks that, only where that user cannot read the recording
 * or start the tools, and with what opens the trace of a process where that is to be read.
 */
#ifndef TRACE_REPORT_CONFINE_H
#define TRACE_REPORT_CONFINE_H

#include <sys/types.h>

/*
 * Call it after all outputs are open. pid: the process whose trace is read, or 0; paths: of the files and folders, with
 * NULL at the end. Does nothing for other users than root. Exits with a message if it fails.
 */
void confine_enter(pid_t pid, char *const *paths);

#endif
