/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traces that a process has mapped: the very files, since any user may put others of such names into /dev/shm.
 * SPDK maps its trace shared and writable, under the process's id or a shared-memory id.
 */
#pragma once

#include "mapping.h"

struct mappedtrace {
	char *path; /* below /proc/PID/root, if the process has other mounts; the caller frees it */
	int fd;     /* the caller's */
};

/*
 * Opens the file of a mapping. Returns a descriptor, or -1 with *error, in words that follow "the trace", valid until
 * the next call.
 */
typedef int mappedtrace_open(void *context, const struct mapping *m, const struct mapping_list *list,
			     const char **error);

struct mappedtrace_search {
	pid_t pid;
	mappedtrace_open *open;
	void *context;
	struct mapping_list list;
	char root[32]; /* what comes before paths of the process */
	bool is_readable;
	unsigned tries;
};

/*
 * Starts a search, which finds nothing in a process that cannot be read. open: NULL, or what opens the files in place
 * of mapping_open(), which may never return. Call mappedtrace_end() after it.
 */
void mappedtrace_begin(struct mappedtrace_search *search, pid_t pid, mappedtrace_open *open, void *context);

/*
 * Returns NULL with the next file that has a trace's name and belongs to the process's user or to root: *found has no
 * path after the last one. Otherwise what is wrong with the file whose path is in *found, in words that follow "the
 * trace".
 */
const char *mappedtrace_next(struct mappedtrace_search *search, struct mappedtrace *found);

void mappedtrace_end(struct mappedtrace_search *search);

/* Whether it is mapped like a trace, under such a name. The file is not opened, which may never end. */
bool mappedtrace_may_be(const struct mapping *m);

/* What is wrong with a file of this size, or NULL: SPDK locks its trace in memory. */
const char *mappedtrace_check_size(off_t size);
