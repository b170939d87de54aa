/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that reads a pipe while its owner processes the previous block.
 *
 * Reading a pipe costs a filter a quarter of its time: the bytes are in another processor's cache,
 * and every read wakes the writer. With this a filter is as fast in a pipeline as on a file. There
 * are two blocks, one for each side; around each is room for the owner's unfinished rest.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "slice.h"

struct readahead;

/*
 * Starts to read from a duplicate of fd. rest_max: the most that the owner will ever carry over.
 * Returns NULL when the thread cannot be started; nothing has been read then. The owner may close
 * fd, and must not read from it any more.
 */
struct readahead *readahead_start(int fd, size_t rest_max);

/* Whether readahead_next() would return at once. */
bool readahead_ready(struct readahead *r);

/* Waits until it would, but not much longer than ms. Returns whether it would. */
bool readahead_wait(struct readahead *r, unsigned ms);

/*
 * Waits for the next block. rest is the end of the last block that the owner wants to keep: *start
 * points to it, or to a copy, followed by the new bytes. Returns the number of those, 0 at the end, -1
 * with errno. Both are valid until the next call.
 */
ssize_t readahead_next(struct readahead *r, struct slice rest, char **start);

/*
 * Frees r, which may be NULL, if the end of the input or an error was returned. Before that the
 * thread cannot be stopped, because it may be waiting for input: it and its memory remain until the
 * process exits.
 */
void readahead_close(struct readahead *r);
