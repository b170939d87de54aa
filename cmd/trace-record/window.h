/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last lines of a file that a tool writes for as long as it runs: what is older becomes a hole of the file, so it
 * takes no space.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct folder;
struct probes;

enum {
	WINDOW_STEPS = 16, /* in which time and size move on */
	WINDOW_MARKS = 4 * WINDOW_STEPS,
};

struct window {
	int fd; /* -1: none */
	uint64_t keep_ms, max_size;
	struct probes *old; /* gets the lines that are dropped; NULL: nothing does */
	uint64_t start;     /* the first byte that is kept */
	struct window_mark {
		uint64_t time, size; /* milliseconds; bytes of the file at that time */
	} marks[WINDOW_MARKS];
	unsigned num_marks;
};

/* Opens the file with this name. old: as above. Returns false with errno. */
bool window_open(struct window *w, const struct folder *folder, const char *name, uint64_t keep_ms, uint64_t max_size,
		 struct probes *old);

/* Drops what is too old, or too much. To be called often. now: milliseconds. Returns false with errno. */
bool window_slide(struct window *w, uint64_t now);

/* Copies the lines that are kept to a file, after those of old. Returns false with errno. */
bool window_copy(const struct window *w, int to);

void window_close(struct window *w);
