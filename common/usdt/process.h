/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the trace of a process, and the process of a trace, by the trace's name: /dev/shm/nvmf_trace.pid1234. */
#pragma once

#include <sys/types.h>

/*
 * Opens the trace of a process: the file that it has mapped; if it has ended, the one with its id in the name, which
 * has to belong to root or to the caller. Returns its path; NULL with what is wrong in *error unless there is exactly
 * one, a regular file; then the tool is to end. The caller frees the path.
 */
char *process_open_trace(pid_t pid, int *fd, char **error);

/* The process in a trace's name; 0: none. */
pid_t process_of_trace(const char *path);
