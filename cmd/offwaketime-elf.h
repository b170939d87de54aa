/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions in an ELF file, as it or its separate debug file names them. */
#ifndef OFFWAKETIME_ELF_H
#define OFFWAKETIME_ELF_H

#include <stddef.h>
#include <stdint.h>

struct function {
	uint64_t start, end; /* addresses in the file */
	char *name;
};

struct segment {
	uint64_t offset, size, address;
};

struct elf_file {
	struct function *functions; /* in the order of their starts */
	size_t n;
	struct segment *segments; /* that are loaded */
	size_t num_segments;
};

/*
 * Reads the functions of an open file. Its debug file is looked for in two directories that are taken for "/": root,
 * and this process's own. path: of the file, below root. What cannot be read has no functions.
 */
void elf_read(struct elf_file *f, int fd, const char *path, int root);

/* The function that has the byte of the file at this offset; NULL: it is not known. */
const struct function *elf_find(const struct elf_file *f, uint64_t offset);

void elf_free(struct elf_file *f);

#endif
