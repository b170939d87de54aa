/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions in an ELF file. Files are read by a sandbox: see reading.h. libdwfl would find no names for a process
 * of another mount namespace, and opens files, which the sandbox forbids.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct out;

struct function {
	uint64_t start, end; /* addresses in the file */
	uint64_t name;       /* where it starts in the names */
};

struct elf_file {
	struct function *functions; /* by start */
	size_t n;
	char *names; /* of the functions, each with a NUL */
	size_t names_size;
	struct elf_range {
		uint64_t offset, size, address;
	} * ranges; /* of the file that are mapped */
	size_t num_ranges;
};

/*
 * Reads the functions of an open file; without symbols it has those that it exports. Returns NULL, or why functions are
 * missing: the file is damaged or too large. The rest is read all the same.
 */
const char *elf_read(struct elf_file *f, int fd);

/* Writes all of it for another process, which receives it. False: the bytes were not written by elf_write(). */
void elf_write(const struct elf_file *f, struct out *out);
bool elf_receive(struct elf_file *f, struct slice bytes);

/* The name of the function at this offset in the file; NULL: unknown. */
const char *elf_find(const struct elf_file *f, uint64_t offset);

void elf_free(struct elf_file *f);
