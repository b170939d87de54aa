/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a trace: a mapped file, a snapshot of a file in memory (a live trace changes under its
 * reader), or what came through a pipe so far.
 */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input {
	int fd;
	int error;           /* errno of a read that failed: what follows is missing */
	const uint8_t *data; /* may move in input_need() */
	size_t size;         /* bytes there are, so far */
	size_t mapped;
	size_t dropped;      /* bytes before data */
	bool whole;          /* no more will come */
	bool file;           /* data is the file itself */
	bool snapshot;       /* data is a copy of a file that may be changing */
	const uint8_t *live; /* that file as it is now; NULL: data is no snapshot */
};

/* How many bytes input_open() tries to have in data. */
enum { INPUT_BEGIN = 64 * 1024 };

/* Opens path, "-" being standard input. live: takes a snapshot of a file in any case. Returns -1 with errno. */
int input_open(struct input *in, const char *path, bool live);

/* Makes an input of these bytes, all that there are. They stay the caller's, and it needs no input_close(). */
void input_of(struct input *in, const void *bytes, size_t n);

/* The number of 8 bytes that is at this place of the snapshot, as it is in the file now. */
uint64_t input_number(const struct input *in, const uint8_t *at);

/*
 * Reads bytes of the snapshot, which are at this place of data, from the file again. Returns whether it did;
 * otherwise `error` is set, or the file has become shorter.
 */
bool input_again(struct input *in, const uint8_t *at, void *to, size_t n);

/* Whether data holds the first n bytes, after reading on where it can. False at the end, or with `error`. */
bool input_need(struct input *in, uint64_t n);

/*
 * Says that these bytes of data are not needed soon, so that a large file does not fill the memory. They can
 * still be read.
 */
void input_release(const struct input *in, const uint8_t *from, const uint8_t *to);

/* Whether the file became shorter while it was read: what was beyond its new end was read as zeros. */
bool input_shrunk(const struct input *in);

/* Forgets the first n bytes: what follows them is the begin of data from now on. */
void input_drop(struct input *in, size_t n);

void input_close(struct input *in);

#endif
