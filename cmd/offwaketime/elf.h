/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions in an ELF file, as it or its separate debug file names them. Files are read by a sandbox: see
 * reading.h.
 *
 * libdwfl is not used. By itself it finds no names for a process of another mount namespace, or those of the file with
 * the same path here, and it opens files, which the sandbox forbids. Given descriptors it would unpack .gnu_debugdata
 * and merge the tables of symbols, but to find debug files and to verify them would stay here: some 40 lines less,
 * without the limits of elffile.h, for a library of 700 KB. It takes as long, 0.05 s for 43 files, and as much memory.
 */
#ifndef OFFWAKETIME_ELF_H
#define OFFWAKETIME_ELF_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct out;

struct function {
	uint64_t start, end; /* addresses in the file */
	const char *name;
};

struct elf_file {
	struct function *functions; /* by start */
	size_t n;
	char *names[2]; /* the names of the functions are parts of these */
	size_t names_size[2];
	struct elf_range {
		uint64_t offset, size, address;
	} * ranges; /* of the file that are mapped */
	size_t num_ranges;
};

/* What a file says about its debug file. */
enum { ELF_BUILD_ID_MIN = 4, ELF_BUILD_ID_MAX = 128 };

struct elf_debug {
	char build_id[ELF_BUILD_ID_MAX + 1]; /* hexadecimal digits; empty: it has no build id */
	char link[NAME_MAX + 1];             /* the name of the file; empty: none */
	uint32_t checksum;                   /* of that file */
};

/*
 * Reads the functions of an open file. Without symbols of its own, it has those that it exports or that are packed, and
 * *debug is set, which else is all zero. Returns NULL, or why functions are missing: the file is damaged or too large.
 * The rest is read all the same.
 */
const char *elf_read(struct elf_file *f, struct elf_debug *debug, int fd);

/*
 * Reads the functions of an open debug file, without ranges. It must have the build id or, if one of the two files has
 * none and by_id is not set, the checksum. by_id: the file was found by the build id. Returns as elf_read(). *found:
 * whether the file is the right one, and has symbols.
 */
const char *elf_read_debug(struct elf_file *f, bool *found, const struct elf_debug *debug, bool by_id, int fd);

/* Writes all of it for another process, which receives it. False: the bytes were not written by elf_write(). */
void elf_write(const struct elf_file *f, struct out *out);
bool elf_receive(struct elf_file *f, struct slice bytes);

/* The function at this offset in the file; NULL: unknown. */
const struct function *elf_find(const struct elf_file *f, uint64_t offset);

void elf_free(struct elf_file *f);

#endif
