/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a trace: a mapped file, a snapshot of a file in memory (a live trace changes under
 * its reader), or what came through a pipe so far.
 *
 * A process can have one open input: the handler of SIGBUS, which puts zeros where a mapped file
 * was truncated, has to find the mapping.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	int fd;
	int error;           /* errno of a read that failed: what follows is missing */
	const uint8_t *data; /* may move in input_fill() */
	size_t size;         /* bytes in data */
	size_t mapped;
	size_t consumed;     /* bytes before data */
	bool whole;          /* no more will come */
	bool file;           /* data is the file itself */
	bool snapshot;       /* data is a copy of a file that may be changing */
	const uint8_t *live; /* that file as it is now; NULL: data is no snapshot */
};

/* How many bytes input_open() tries to have in data. */
enum { INPUT_START = 64 * 1024 };

/*
 * Opens path, "-" being standard input. live: takes a snapshot of any regular file. Returns -1 with
 * errno.
 */
int input_open(struct input *in, const char *path, bool live);

/* Makes an input of these bytes. They stay the caller's, and it needs no input_close(). */
void input_of(struct input *in, const void *bytes, size_t n);

/* Reads on until data holds n bytes. False at the end of the input, or with `error`. */
bool input_fill(struct input *in, uint64_t n);

/* Forgets the first n bytes: data starts after them from now on. */
void input_consume(struct input *in, size_t n);

/*
 * Says that these bytes of data are not needed soon, so that a large file does not fill the memory.
 * They can still be read.
 */
void input_release(const struct input *in, const void *from, const void *to);

/*
 * Whether the file became shorter while it was read: what was after its new end was read as zeros.
 */
bool input_shrunk(const struct input *in);

void input_close(struct input *in);

/*
 * For a snapshot. `at` is a place in data.
 */

/* The 8 bytes there as they are in the file now. */
uint64_t input_load_live_u64(const struct input *in, const void *at);

/*
 * Reads n bytes of the file again, those at this place. Returns whether it did; otherwise `error`
 * is set, or the file has become shorter.
 */
bool input_reread(struct input *in, const void *at, void *to, size_t n);

/* The same into the snapshot. */
bool input_refresh(struct input *in, const void *at, size_t n);

/* Replaces n bytes of the snapshot. */
void input_patch(struct input *in, const void *at, const void *bytes, size_t n);

#endif
