/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that a process generates while it runs, as Java and node list them in /tmp/perf-PID.map: lines of a
 * start and a size, both in hex, and a name. The file grows, and functions may reuse the memory of earlier ones.
 */
#ifndef OFFWAKETIME_PERFMAP_H
#define OFFWAKETIME_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

#include "out.h"

struct mapping_list;
struct sandbox;

/* All zero is empty. */
struct perfmap {
	struct perfmap_function {
		uint64_t start, end;
		size_t name; /* offset in names: greater if it was written later */
	} * functions;       /* by start: no two are equal */
	size_t n, cap;
	struct out names; /* each with a NUL */
	char path[32];    /* of the file, below the process's root */
	uint64_t inode;
	uint64_t read;     /* bytes of the file, up to the start of a line */
	char last[32];     /* the last of these bytes */
	uint64_t loaded;   /* bytes that it takes */
	const char *error; /* NULL: nothing was wrong; otherwise no more is read */
	char *failure;     /* the error if it is not a constant */
};

/*
 * Reads the new lines of a process's file, of which a sandbox makes a copy. It has the process's id in its own PID
 * namespace, is below its root, and must belong to its user or to root; links are not followed. Returns NULL; or once,
 * why functions are missing.
 */
const char *perfmap_read(struct perfmap *map, struct sandbox *sandbox, const struct mapping_list *list);

/* The same for an open file; held: of the sandbox. Skips other lines, and the last one until it has a newline. */
const char *perfmap_add(struct perfmap *map, int fd, uint64_t *held);

/* The name of the function at the address: of several, the one that was written last. NULL: unknown. */
const char *perfmap_find(const struct perfmap *map, uint64_t address);

/* Frees it, and subtracts what it took from the sandbox's held bytes. */
void perfmap_free(struct perfmap *map, uint64_t *held);

#endif
