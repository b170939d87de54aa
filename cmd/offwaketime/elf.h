/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions in an ELF file, as it or its separate debug file names them.
 *
 * libdwfl is not used: for a process of another mount namespace it finds no names, or those of the file with the same
 * path here. It also reads a file again for each process, without a limit.
 */
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
	struct function *functions; /* by start */
	size_t n;
	char *names[2]; /* the names of the functions are parts of these */
	struct elf_range {
		uint64_t offset, size, address;
	} * ranges; /* of the file that are mapped */
	size_t num_ranges;
};

/*
 * Reads the functions of an open file. Its debug file is searched for below root, and below this
 * process's own root. path: of the file, below root. Returns NULL, or why functions are missing:
 * the file, or its debug file, is damaged or too large. The rest is read all the same.
 */
const char *elf_read(struct elf_file *f, int fd, const char *path, int root, struct elffile_budget *budget);

/* The function at this offset in the file; NULL: unknown. */
const struct function *elf_find(const struct elf_file *f, uint64_t offset);

void elf_free(struct elf_file *f);

#endif
