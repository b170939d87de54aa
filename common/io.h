/* SPDX-License-Identifier: BSD-3-Clause */
/* read(2) and write(2) as callers mean them: interruptions and non-blocking descriptors are waited out. */
#ifndef IO_H
#define IO_H

#include <sys/types.h>

/*
 * What is read or written at once. Small enough that it, the block of the tool behind it and the pipe between
 * them stay in the caches of two cores, and large enough that they seldom wake each other. Fuzzing sets it to
 * much less, so that a few lines already cross blocks.
 */
#ifndef IO_BLOCK
#define IO_BLOCK (128 * 1024)
#endif

/* Opens an operand for reading; "-" is standard input. Returns -1 with errno; a terminal is not refused here. */
int io_open(const char *path);

/* The operand's name in messages: "-" is <stdin>. */
const char *io_name(const char *path);

/* Returns the bytes read, 0 at the end, -1 with errno. */
ssize_t io_read(int fd, void *buf, size_t n);

/* Writes all of it. Returns 0, or -1 with errno and an unknown part written. */
int io_write(int fd, const void *buf, size_t n);

#endif
