/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a process generates while it runs, as Java and node list them in /tmp/perf-PID.map: lines of a
 * start and a size, both in hex, and a name. The file grows, and a function may take the memory of an earlier one.
 */
#ifndef OFFWAKETIME_PERFMAP_H
#define OFFWAKETIME_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

#include "elffile.h"
#include "out.h"

/* All zero is empty. */
struct perfmap {
	struct perfmap_function {
		uint64_t start, end;
		size_t name; /* where it starts in names: the greater, the later it was written */
	} * functions;       /* by start, which differs */
	size_t n, cap;
	struct out names; /* each with a NUL */
	char path[32];    /* of the file, below the process's root */
	uint64_t inode;
	uint64_t read;     /* bytes of the file, up to the start of a line */
	char last[32];     /* of these the last */
	uint64_t loaded;   /* of the budget */
	const char *error; /* NULL: nothing was wrong; otherwise no more is read */
};

/*
 * Reads what is new in the file of the process with this directory in /proc and this root. It is the file's name in
 * the process's own PID namespace and below its root; it belongs to its user or to root, and links are not followed.
 * Returns NULL; or once, why functions are missing.
 */
const char *perfmap_read(struct perfmap *map, int proc, int root, struct elffile_budget *budget);

/* The same of an open file. Other lines are skipped, and so is the last one until it has a newline. */
const char *perfmap_add(struct perfmap *map, int fd, struct elffile_budget *budget);

/* The name of the function at the address, of several the one that was written last; NULL: unknown. */
const char *perfmap_find(const struct perfmap *map, uint64_t address);

/* Frees it, and returns what it has loaded to the budget. */
void perfmap_free(struct perfmap *map, struct elffile_budget *budget);

#endif
