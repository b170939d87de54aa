/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ELF files from untrusted sources: with sparse data and headers that share a section, a small file can take gigabytes
 * and minutes. So the bytes that libelf loads of a file are limited, also where no sandbox limits memory and time.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

enum {
	ELFFILE_MAX = 64 << 20, /* bytes loaded from one file */
	ELFFILE_SEGMENTS = 256, /* of type PT_LOAD; few files have ten */
};

struct elffile {
	Elf *elf;
	int fd;          /* the caller's */
	uint64_t loaded; /* bytes */
	struct elffile_section {
		GElf_Shdr header;
		Elf_Data *data;
	} names; /* of the sections; data is NULL if they have no names */
	struct elffile_segment {
		uint64_t address, offset, size;
	} segments[ELFFILE_SEGMENTS]; /* of the file, as mapped by a process */
	size_t num_segments;
	bool is_other;     /* it does not start with ELF's magic number */
	unsigned machine;  /* EM_* of elf.h */
	const char *error; /* NULL: no error */
};

/*
 * Opens a file of this machine's byte order. The descriptor must outlive it. Returns 0, or -1 with
 * f->error; call elffile_close() in both cases.
 */
int elffile_open(struct elffile *f, int fd);

void elffile_close(struct elffile *f);

/* The first section of this type and name (NULL: any). False if there is none, or with f->error. */
bool elffile_find(struct elffile *f, uint32_t type, const char *name, GElf_Shdr *header);

/* The same with its contents, valid until elffile_close(). */
bool elffile_load(struct elffile *f, uint32_t type, const char *name, struct elffile_section *s);

static inline struct slice elffile_bytes(const struct elffile_section *s)
{
	return (struct slice){s->data->d_size ? s->data->d_buf : "", s->data->d_size};
}

/* A table of symbols. */
struct elffile_symbols {
	struct elffile_section symbols, names;
	size_t n;
};

/* Loads the symbols of the section of this type. False if there is none, or with f->error. */
bool elffile_load_symbols(struct elffile *f, uint32_t type, struct elffile_symbols *s);

/* The name of symbol i, "" if it has none. NULL: it cannot be read. */
const char *elffile_symbol(const struct elffile_symbols *s, size_t i, GElf_Sym *symbol);

/*
 * Finds the next note of this owner and type from *at on, which starts at 0. Returns 1; 0 if there
 * is none, or -1 if a note is cut off.
 */
int elffile_note(const struct elffile_section *notes, const char *owner, uint32_t type, size_t *at, struct slice *desc);

/* Sets *path, which the caller frees, to the dynamic linker; NULL: linked statically. Returns 0, or -1 with errno. */
int elffile_interpreter(const struct elffile *f, char **path);

/* Sets *offset to the position in the file of the byte at this address. False if no segment has it. */
bool elffile_offset(const struct elffile *f, uint64_t address, uint64_t *offset);
