/* SPDX-License-Identifier: BSD-3-Clause */
#include "elf.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "elffile.h"
#include "mem.h"
#include "minmax.h"
#include "out.h"
#include "sandbox.h"
#include "search.h"

enum {
	NAME_LONGEST = 4096, /* a longer name is ignored */
	NAME_COMPARED = 32,  /* characters that decide between two names of a function */
};

/* A file being read, and the first fault in it. */
struct elf_reader {
	struct elf_file *to;
	const char *error;
};

static void fault(struct elf_reader *r, const char *error)
{
	if (!r->error)
		r->error = error;
}

static void add_ranges(struct elf_reader *r, const struct elffile *elf)
{
	struct elf_file *f = r->to;

	f->ranges = mem_array(elf->num_segments, sizeof(*f->ranges));
	f->num_ranges = elf->num_segments;
	for (size_t i = 0; i < elf->num_segments; i++) {
		const struct elffile_segment *s = &elf->segments[i];

		f->ranges[i] = (struct elf_range){s->offset, s->size, s->address};
	}
}

/* A symbol without a size may end anywhere: the code after it would get a wrong name. */
static bool is_function(const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF && symbol->st_size &&
	       symbol->st_size <= UINT64_MAX - symbol->st_value && *name && strnlen(name, NAME_LONGEST) < NAME_LONGEST;
}

/* Symbols that a library exports may have the version after them: read@@GLIBC_2.2.5. */
static void cut_version(char *name)
{
	name[1 + strcspn(name + 1, "@")] = 0;
}

/* Takes the functions of the section of this type. Returns whether there is one. */
static bool add_symbols(struct elf_reader *r, struct elffile *elf, uint32_t type)
{
	struct elf_file *f = r->to;
	struct elffile_symbols symbols;
	const char *name;
	GElf_Sym s;

	if (!elffile_load_symbols(elf, type, &symbols)) {
		fault(r, elf->error);
		return false;
	}
	f->functions = mem_resize(NULL, symbols.n, sizeof(*f->functions));
	f->names = mem_copy(elffile_bytes(&symbols.names));
	f->names_size = symbols.names.data->d_size;
	for (size_t i = 0; i < symbols.n && (name = elffile_symbol(&symbols, i, &s)); i++)
		if (is_function(&s, name)) {
			cut_version(f->names + s.st_name);
			f->functions[f->n++] = (struct function){s.st_value, s.st_value + s.st_size, s.st_name};
		}
	f->functions = mem_resize(f->functions, f->n, sizeof(*f->functions));
	return true;
}

static int compare(const void *a, const void *b, void *names)
{
	const struct function *x = a, *y = b;

	return ORDER(x->start, y->start) ?: strncmp((char *)names + x->name, (char *)names + y->name, NAME_COMPARED);
}

const char *elf_read(struct elf_file *f, int fd)
{
	struct elf_reader r = {f, NULL};
	struct elffile elf;

	*f = (struct elf_file){};
	if (elffile_open(&elf, fd) == 0) {
		add_ranges(&r, &elf);
		if (!add_symbols(&r, &elf, SHT_SYMTAB))
			add_symbols(&r, &elf, SHT_DYNSYM);
	}
	/* code may be mapped from any file: one that is not ELF is no error */
	if (!elf.is_other)
		fault(&r, elf.error);
	elffile_close(&elf);
	if (f->n)
		qsort_r(f->functions, f->n, sizeof(*f->functions), compare, f->names);
	return r.error;
}

struct head {
	uint64_t n, names_size, num_ranges;
};

void elf_write(const struct elf_file *f, struct out *out)
{
	const struct head head = {f->n, f->names_size, f->num_ranges};

	out_bytes(out, &head, sizeof(head));
	out_bytes(out, f->ranges, f->num_ranges * sizeof(*f->ranges));
	out_bytes(out, f->functions, f->n * sizeof(*f->functions));
	out_bytes(out, f->names, f->names_size);
}

static bool receive(struct elf_file *f, struct slice bytes)
{
	struct slice ranges, functions;
	struct head head;

	if (!sandbox_cut(&bytes, &head, sizeof(head)) || head.num_ranges > ELFFILE_SEGMENTS ||
	    head.num_ranges * sizeof(*f->ranges) > bytes.n)
		return false;
	ranges = slice_cut(&bytes, head.num_ranges * sizeof(*f->ranges));
	if (head.n > bytes.n / sizeof(*f->functions))
		return false;
	functions = slice_cut(&bytes, head.n * sizeof(*f->functions));
	if (bytes.n != head.names_size || (bytes.n && bytes.p[bytes.n - 1]))
		return false;
	f->num_ranges = head.num_ranges;
	f->ranges = mem_array(head.num_ranges, sizeof(*f->ranges));
	sandbox_cut(&ranges, f->ranges, ranges.n);
	f->names = mem_copy(bytes);
	f->names_size = bytes.n;
	f->functions = mem_array(head.n, sizeof(*f->functions));
	sandbox_cut(&functions, f->functions, functions.n);
	for (; f->n < head.n; f->n++)
		if (f->functions[f->n].name >= bytes.n)
			return false;
	return true;
}

bool elf_receive(struct elf_file *f, struct slice bytes)
{
	*f = (struct elf_file){};
	if (receive(f, bytes))
		return true;
	elf_free(f);
	return false;
}

/*
 * The function at this address: the last one that starts before it and ends after it, because they
 * can be nested. Of several names for one start, the last one is used: it has no underscores.
 */
static const struct function *find_address(const struct elf_file *f, uint64_t address)
{
	enum { NESTED = 16 };
	size_t next = search_first(i, f->n, f->functions[i].start > address);

	for (size_t i = next; i > 0 && next - i < NESTED; i--)
		if (address < f->functions[i - 1].end)
			return &f->functions[i - 1];
	return NULL;
}

const char *elf_find(const struct elf_file *f, uint64_t offset)
{
	const struct function *found;

	for (size_t i = 0; i < f->num_ranges; i++) {
		const struct elf_range *r = &f->ranges[i];

		if (offset < r->offset || offset - r->offset >= r->size)
			continue;
		found = find_address(f, offset - r->offset + r->address);
		return found ? f->names + found->name : NULL;
	}
	return NULL;
}

void elf_free(struct elf_file *f)
{
	free(f->functions);
	free(f->names);
	free(f->ranges);
	*f = (struct elf_file){};
}
