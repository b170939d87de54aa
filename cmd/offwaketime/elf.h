/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions in an ELF file, as it or its separate debug file names them. */
#ifndef OFFWAKETIME_ELF_H
#define OFFWAKETIME_ELF_H

#include <stddef.h>
#include <stdint.h>

struct elffile_budget;

struct function {
	uint64_t start, end; /* addresses in the file */
	const char *name;
};

struct elf_file {
	struct function *functions; /* in the order of their starts */
	size_t n;
	char *names; /* what those of the functions are parts of */
	struct elf_range {
		uint64_t offset, size, address;
	} * ranges; /* of the file, that processes have in memory */
	size_t num_ranges;
};

/*
 * Reads the functions of an open file. Its debug file is looked for in two directories that are taken for "/": root,
 * and this process's own. path: of the file, below root. Returns NULL, or why functions are missing: the file, or its
 * debug file, is damaged or too large, or there is no memory. What can be read of it is there all the same.
 */
const char *elf_read(struct elf_file *f, int fd, const char *path, int root,
		     struct elffile_budget *budget);

/* The function that has the byte of the file at this offset; NULL: it is not known. */
const struct function *elf_find(const struct elf_file *f, uint64_t offset);

void elf_free(struct elf_file *f);

#endif
