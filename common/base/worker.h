/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process for calls that may never return: its descriptors, how it hands some over, and its end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Closes all descriptors except these and `own`; negative ones are ignored. Returns false if that fails. */
bool worker_close_others(const int *keep, size_t num_keep, int own);

/* Writes n bytes, which fit in the buffer of the socket, with a descriptor; -1: none. Returns 0, or -1 with errno. */
int worker_send(int socket, const void *bytes, size_t n, int fd);

/*
 * Reads up to n bytes, and the descriptor that came with them: it then belongs to the caller, and is closed on exec.
 * Else *fd is -1. Returns the number of bytes, 0 at the end, -1 with errno: EMFILE if this process may have no more
 * descriptors.
 */
ssize_t worker_receive(int socket, void *bytes, size_t n, int *fd);

/*
 * Kills the child. Returns how it ended, as wait(2) has it, which is its own way if it had closed its socket; -1: it is
 * stuck, and stays until the kernel lets it end.
 */
int worker_end(pid_t child);
