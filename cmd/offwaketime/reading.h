/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the functions of files that a process has mapped, in a sandbox. */
#pragma once

#include "elf.h"
#include "mapping.h"

struct sandbox;

struct reading_id {
	uint64_t device, inode, size, seconds, ns; /* the times are those of the last change */
};

struct reading {
	struct mapping mapping; /* its path must stay */
	int fd;                 /* the file if it is open already, or -1 */

	/* the results: */
	bool is_open; /* a regular file that could be opened */
	struct reading_id id;
	uint32_t known;       /* what is_known() returned: then the file is not read */
	struct elf_file file; /* the caller's, to be freed */
	uint64_t held;        /* bytes that the sandbox counts until the caller subtracts them */
	/* why functions are missing, to be freed; NULL: none are missing, or the reason was reported before */
	char *error;
};

/* Whether the file of this id need not be read again: returns a number, or MAP_NONE. Also called by a child process. */
typedef uint32_t reading_known(const void *context, const struct reading_id *id);

/* Reads n files, whose results are all zero. list: where they are mapped. */
void reading_run(struct sandbox *sandbox, struct reading *files, size_t n, const struct mapping_list *list,
		 reading_known *is_known, const void *context);
