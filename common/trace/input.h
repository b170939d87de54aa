/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a trace: a mapped file, a snapshot of a file in memory (a live trace changes under
 * its reader), or the bytes read from a pipe so far.
 *
 * Parts of a file that cannot be read are zeros: pages on bad blocks, and what was truncated.
 *
 * A process can have only one input open, because the SIGBUS handler, which maps those zeros, must
 * find it.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct input {
	int fd;
	int error;           /* errno of a failed read from a pipe: the rest is missing */
	const uint8_t *data; /* may move in input_fill() */
	size_t size;         /* bytes in data */
	size_t mapped;
	size_t consumed;     /* bytes before data */
	bool whole;          /* no more will come */
	bool file;           /* data is the file itself */
	bool snapshot;       /* data is a copy of a file that may be changing */
	bool copied;         /* the copy is complete: parts that cannot be read are not counted again */
	const uint8_t *live; /* that file as it is now; NULL: data is no snapshot */

	volatile size_t unreadable;     /* bytes of the file that could not be read so far */
	size_t first_unreadable;        /* their first position */
	int read_error;                 /* errno of the first attempt */
	volatile sig_atomic_t shrunk;   /* the file has become shorter */
	volatile sig_atomic_t replaced; /* some of data is no longer mapped from the file */
};

/* The number of bytes that input_open() tries to read from a pipe. */
enum { INPUT_START = 64 * 1024 };

/*
 * Opens path; "-" is standard input. live: takes a snapshot of any regular file, not only of one in
 * shared memory. Returns 0, or -1 with errno.
 */
int input_open(struct input *in, const char *path, bool live);

/* The same for a descriptor, which input_close() closes. If it is -1, returns -1 with errno as it is. */
int input_open_fd(struct input *in, int fd, bool live);

/*
 * The same, not live, for a descriptor that was read up to these bytes: they are the first ones of the input, and stay
 * the caller's.
 */
int input_open_rest(struct input *in, int fd, struct slice start);

/* Makes an input of these bytes. They stay the caller's, and it needs no input_close(). */
void input_of(struct input *in, const void *bytes, size_t n);

/* Reads on until data holds n bytes. False at the end of the input, or with `error`. */
bool input_fill(struct input *in, uint64_t n);

/* Discards the first n bytes, so that data starts after them; does nothing if the input is whole. */
void input_consume(struct input *in, size_t n);

/*
 * Says that these bytes of data are not needed soon, so that a large file does not fill the memory.
 * They can still be read.
 */
void input_release(const struct input *in, const void *from, const void *to);

/*
 * Whether the file became shorter while it was read: bytes after its new end were read as zeros.
 */
bool input_shrunk(const struct input *in);

/* Tries to read the pages of these bytes from the file, n > 0. Returns whether one of them cannot be read. */
bool input_find_lost(const struct input *in, const void *at, size_t n);

/* The same, but costs no system call until a part of the file has turned out to be unreadable. */
static inline bool input_is_lost(const struct input *in, const void *at, size_t n)
{
	const volatile uint8_t *bytes = at;

	for (size_t i = 0; i < n; i += 4096)
		(void)bytes[i];
	(void)bytes[n - 1];
	return in->unreadable && input_find_lost(in, at, n);
}

/*
 * How many bytes from this place on are a hole of the file, which reads as zeros; 0 if it has none there. *data: after
 * how many bytes from this place on another hole may start. To be called before the bytes are read: a page of an
 * overlay above a tmpfs is no hole any more when it was read, and takes memory.
 */
size_t input_hole(const struct input *in, const void *at, size_t *data);

void input_close(struct input *in);

/*
 * For a snapshot. `at` is a place in data.
 */

/* The 8 bytes there as they are in the file now. */
uint64_t input_load_live_u64(const struct input *in, const void *at);

/*
 * Reads the n bytes at this place from the file again. Returns false if the file has become
 * shorter.
 */
bool input_reread(struct input *in, const void *at, void *to, size_t n);

/* The same into the snapshot. */
bool input_refresh(struct input *in, const void *at, size_t n);

/* Replaces n bytes of the snapshot. */
void input_patch(struct input *in, const void *at, const void *bytes, size_t n);
