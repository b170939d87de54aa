/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ELF files that anybody may have made: what libelf loads of them is limited.
 *
 * Sparse files and headers that share a section make small files that need gigabytes and minutes. So everything
 * that is loaded is paid for beforehand out of two budgets: that of the file, and that of all files which a tool reads.
 */
#ifndef ELFFILE_H
#define ELFFILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	ELFFILE_MAX = 64 << 20,      /* bytes that are loaded of one file */
	ELFFILE_MAX_ALL = 128 << 20, /* and of all files of a tool */
	ELFFILE_SEGMENTS = 256,      /* that are loaded into memory; few have ten */
};

/* All zero: nothing was loaded yet. */
struct elffile_budget {
	uint64_t spent;
};

struct elffile {
	Elf *elf;
	int fd; /* the caller's */
	struct elffile_budget *budget;
	uint64_t loaded;
	struct elffile_section {
		GElf_Shdr header;
		Elf_Data *data;
	} names; /* of the sections; data is NULL when they have none */
	struct elffile_segment {
		uint64_t address, offset, size;
	} segments[ELFFILE_SEGMENTS]; /* what of the file a process has in memory */
	size_t num_segments;
	bool is_elf;       /* it begins as one */
	unsigned machine;  /* for which it is: EM_* of elf.h */
	const char *error; /* NULL: nothing was wrong */
};

/*
 * Opens a file of this machine's byte order. The descriptor must outlive it. Returns 0, or -1 with f->error;
 * elffile_close() is due in both cases.
 */
int elffile_open(struct elffile *f, int fd, struct elffile_budget *budget);

void elffile_close(struct elffile *f);

/* Takes n bytes out of the budgets. False with f->error when they are not there. */
bool elffile_spend(struct elffile *f, uint64_t n);

/* Finds the first section of this type, and of this name unless it is NULL. False when there is none, or with f->error. */
bool elffile_find(struct elffile *f, uint32_t type, const char *name, GElf_Shdr *header);

/* The same, and loads what is in it, which is valid until elffile_close(). */
bool elffile_load(struct elffile *f, uint32_t type, const char *name, struct elffile_section *s);

/* Loads the section with this number, as a table of strings. False with f->error. */
bool elffile_strings(struct elffile *f, uint32_t number, struct elffile_section *s);

/* The string at this offset in a table of strings; NULL when it is not in it. */
const char *elffile_string(const struct elffile_section *strings, uint64_t offset);

/* Where in the file the byte with this address is. */
bool elffile_offset(const struct elffile *f, uint64_t address, uint64_t *offset);

#endif
