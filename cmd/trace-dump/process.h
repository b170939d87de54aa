/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the trace of a process, and the process of a trace, by the trace's name: /dev/shm/nvmf_trace.pid1234. */
#ifndef TRACE_DUMP_PROCESS_H
#define TRACE_DUMP_PROCESS_H

#include <sys/types.h>

/*
 * The path of the trace of a process, which may have ended; the caller frees it. Exits with an error
 * unless there is exactly one, a regular file.
 */
char *process_find_trace(pid_t pid);

/* The process in a trace's name; 0: none. */
pid_t process_of_trace(const char *path);

#endif
