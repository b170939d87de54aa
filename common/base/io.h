/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * read(2) and write(2) that retry: after interruptions, and when a non-blocking descriptor is
 * ready.
 */
#pragma once

#include <sys/types.h>

/*
 * Bytes to read or write at once. Small enough that this block, that of the next tool and
 * the pipe between them stay in the caches of two cores, and large enough that they seldom wake
 * each other. Fuzzing sets it to much less, so that a few lines already cross blocks.
 */
#ifndef IO_BLOCK
#define IO_BLOCK (128 * 1024)
#endif

/*
 * Opens an operand for reading; "-" is standard input. Returns -1 with errno. A terminal is opened,
 * too.
 */
int io_open(const char *path);

/* The operand's name in messages, as utf8_visible() writes it: "-" is <stdin>. The path must stay where it is. */
const char *io_name(const char *path);

/* Returns the number of bytes read, 0 at the end, -1 with errno. */
ssize_t io_read(int fd, void *buf, size_t n);

/*
 * Reads all n bytes from this position of a file. Returns 0, or -1 with errno: ENODATA if the file
 * is shorter.
 */
int io_pread(int fd, void *buf, size_t n, off_t from);

/* Writes all of it. Returns 0, or -1 with errno and an unknown part written. */
int io_write(int fd, const void *buf, size_t n);

/* Closes a descriptor, which is -1 from then on; nothing if it is. */
void io_close(int *fd);

/*
 * The path of a copy in memory of what cannot be read twice, which lasts as long as the process. The caller frees it.
 * Returns NULL with errno.
 */
char *io_copy(int from);
