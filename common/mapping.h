/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process has mapped: lines of /proc/PID/maps. */
#ifndef MAPPING_H
#define MAPPING_H

#include <stdbool.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* of the start in the file */
	uint64_t device;
	uint64_t inode; /* 0: it comes from no file */
	char *path;     /* in the line */
	bool code, writable, shared;
};

/* Takes the line apart, and changes it. Returns whether it is one of this form; an anonymous mapping has an empty path. */
bool mapping_parse(struct mapping *m, char *line);

/*
 * Opens the file that is mapped, without following links: by its path under the root of the process, which may be
 * another one than ours; under our own, which the path is relative to when only the
 * root is another one, as by chroot(2); or, when that is not the file any more, by the mapping, which takes
 * more privileges. proc and root: the directories of the process. Returns -1 with errno.
 */
int mapping_open(const struct mapping *m, int proc, int root);

#endif
