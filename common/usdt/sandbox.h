/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads files that other users have made in a child process. It opens them with the tool's privileges, gives these up,
 * and only then reads them: a mistake in a library that does so gives nobody root.
 *
 * Opening and reading may never end on a file system of FUSE, or of a dead server, and even SIGKILL may not interrupt
 * them. A child that gets stuck is killed; one that SIGKILL does not end is abandoned. The next child reads the other
 * files. A tool that needs a file itself gets a descriptor of O_PATH: to close another one may wait for the file system
 * as well.
 *
 * A child that a file has taken over can return anything for itself and the files that it reads after it, whoever owns
 * these. Callers check that it is valid, and choose by themselves which files it is about and which are read next.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out.h"
#include "slice.h"

enum {
	SANDBOX_FILES = 64,       /* of one child, which has them all open */
	SANDBOX_MS = 5000,        /* for each file to be opened, and to be read */
	SANDBOX_ALL_MS = 15000,   /* for so many files, from the start or from the last one that was not read */
	SANDBOX_CPU = 10,         /* of a child, in seconds of a processor */
	SANDBOX_MEMORY = 1 << 30, /* bytes of a child, besides what the tool has */
	SANDBOX_HELD = 256 << 20, /* bytes of all results that a tool holds, and of a file in memory */
	SANDBOX_ERROR = 256,      /* bytes of what is wrong with a file */
	SANDBOX_STUCK = 16,       /* children that may get stuck, or return too much: nothing is read after that */
};

#define SANDBOX_FULL "the files before it have used up the 256 MiB that are kept"

/* All zero at first. */
struct sandbox {
	uint64_t
		stuck[SANDBOX_STUCK]; /* devices that are not tried again; 0: unknown, or a result that was too large */
	unsigned num_stuck;
	uint64_t waited; /* how long children were waited for that got stuck, in ms */
	uint64_t held;   /* bytes of results; the tool subtracts those that it has freed */
};

/* What is to be done with each of n files. */
struct sandbox_job {
	size_t n;
	void *context;
	const int *keep; /* descriptors of the tool that the child needs */
	size_t num_keep;
	/* The file's device; 0: unknown. NULL: all are unknown. */
	uint64_t (*device)(void *context, size_t i);
	/* They are read even where the child cannot be confined: see sandbox_is_own(). */
	bool own;
	/* The files have a child each: then what is in one of them can change no other's result. */
	bool alone;
	/*
	 * In the child, with privileges: opens it, and remembers the descriptor. NULL: it is open, and in keep.
	 * Returns another descriptor for opened(), which the child closes; -1: none.
	 */
	int (*open)(void *context, size_t i);
	/*
	 * In the tool: gets the descriptor, which then is the tool's. No file has been read by this child so far. The
	 * file may be handed over again by another child if this one gets stuck. NULL: open() returns none.
	 */
	void (*opened)(void *context, size_t i, int fd);
	/* In the child, confined: reads it, and writes the result. */
	void (*read)(void *context, size_t i, struct out *out);
	/* In the tool: gets what read() wrote. Returns false if that is damaged: then failed() is called. */
	bool (*result)(void *context, size_t i, struct slice bytes);
	/* In the tool: why the file was not read; NULL: its device, or too many files, failed before. */
	void (*failed)(void *context, size_t i, const char *why);
};

/* Calls result() or failed() once for each file. */
void sandbox_run(struct sandbox *s, const struct sandbox_job *job);

/*
 * Whether nothing is gained by confining who reads this file: the process has no privileges, and the file is its user's
 * own, or root's.
 */
bool sandbox_is_own(int fd);

/*
 * Confines this process for good: no capabilities and, if it was root, another user; no system calls but those that
 * read and write what is open, and that get memory. Returns NULL, or what the kernel refused.
 */
const char *sandbox_enter(void);

/*
 * The same for root's tool that runs on, and does nothing for other users. It has no limits, and may also make holes in
 * files, see processes end, and end itself by a signal. Returns NULL, or what the kernel refused.
 */
const char *sandbox_remain(void);

/* Files are read in this process: for fuzzers, which want to see faults. */
extern bool sandbox_is_off;

/* Cuts n bytes off a result. False if there are fewer. */
static inline bool sandbox_cut(struct slice *bytes, void *to, size_t n)
{
	if (n > bytes->n)
		return false;
	if (n)
		memcpy(to, bytes->p, n);
	*bytes = slice_from(*bytes, n);
	return true;
}

/* A printable copy of what is wrong with a file, to be freed; NULL: longer than SANDBOX_ERROR. */
char *sandbox_error(struct slice text);
