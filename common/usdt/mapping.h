/* SPDX-License-Identifier: BSD-3-Clause */
/* The mappings of a process: lines of /proc/PID/maps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* of the start in the file */
	uint64_t device;
	uint64_t inode; /* 0: it comes from no file */
	char *path;     /* empty: anonymous */
	bool code, writable, shared;
};

/* The list, while it is read. */
struct mapping_list {
	int proc, root; /* its directories: /proc/PID, and its root */
	FILE *maps;
	char *line;
	size_t cap;
};

/*
 * Starts to list the mappings of the program that the process runs now. Returns NULL; or, with
 * errno, what could not be opened: "" for the process itself, "root" or "maps". Call mapping_end()
 * in both cases.
 */
const char *mapping_begin(struct mapping_list *list, pid_t pid);

/* Returns 1 with a mapping, valid until the next call; 0 after the last one, or -1 with errno. */
int mapping_next(struct mapping_list *list, struct mapping *m);

void mapping_end(struct mapping_list *list);

/* RESOLVE_NO_SYMLINKS and so on of openat2(2): the filters build without the kernel's header, which has these. */
enum { MAPPING_NO_SYMLINKS = 0x04, MAPPING_IN_ROOT = 0x10 };

/*
 * Opens a regular file at a path that another process chose; anything else there, which may block, is checked but never
 * opened. dir: where a relative path starts. resolve: some of the above; with MAPPING_IN_ROOT dir is the root for
 * links, too. Sets *st. Returns a descriptor, or -1 with errno: EINVAL if it is not a regular file.
 */
int mapping_open_regular(int dir, const char *path, uint64_t resolve, struct stat *st);

/*
 * Opens the file that is mapped, without following links. Three places are tried in this order:
 *
 *	its path below the root of the process, which may differ from ours
 *	its path below our own root, which it is relative to after chroot(2)
 *	the mapping itself, which takes more privileges
 *
 * Returns a descriptor, or -1 with errno.
 */
int mapping_open(const struct mapping *m, const struct mapping_list *list);
