/* SPDX-License-Identifier: BSD-3-Clause */
/* Which trace belongs to which process, by its name: /dev/shm/nvmf_trace.pid1234. */
#ifndef TRACE_DUMP_PROCESS_H
#define TRACE_DUMP_PROCESS_H

#include <sys/types.h>

/*
 * The path of the trace of a process that runs or has left it behind, allocated; ends the tool when
 * there is none.
 */
char *process_find_trace(pid_t pid);

/* The process in a trace's name; 0: none. */
pid_t process_of_trace(const char *path);

#endif
