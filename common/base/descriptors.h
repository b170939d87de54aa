/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors of a child process: those that it keeps, and those that it hands over. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Closes all but these and `own`; those below 0 are none. Returns false if that fails. */
bool descriptors_close_others(const int *keep, size_t num_keep, int own);

/* Writes n bytes, which fit in the buffer of the socket, with a descriptor. Returns 0, or -1 with errno. */
int descriptors_send(int socket, const void *bytes, size_t n, int fd);

/*
 * Reads up to n bytes, and the descriptor that came with them: it then belongs to the caller, and is closed on exec.
 * Else *fd is -1. Returns the number of bytes, 0 at the end, -1 with errno.
 */
ssize_t descriptors_receive(int socket, void *bytes, size_t n, int *fd);

#endif
