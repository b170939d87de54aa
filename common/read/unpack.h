/* SPDX-License-Identifier: BSD-3-Clause */
/* Unpacks a compressed file with the program that compressed it, and a trace with trace-dump. */
#pragma once

#include "child.h"
#include "kind.h"

struct unpack {
	const char *program;
	struct child child;
};

/*
 * Starts the program for this kind, and returns a pipe with what it prints; -1 if there is none, with ENOENT if it is
 * not installed. start: what was read from fd, which belongs to u from now on.
 */
int unpack_open(struct unpack *u, enum input_kind kind, int fd, struct slice start);

/*
 * The same for a file whose start can be read again, if xz or gzip has compressed it and the program is installed; else
 * returns fd, which may be -1.
 */
int unpack_file(struct unpack *u, int fd);

/*
 * Waits for the program; ends it first unless all was read. Returns 0, or -1 after a message about the file of this
 * name if the program failed.
 */
int unpack_close(struct unpack *u, const char *name, bool was_read);
