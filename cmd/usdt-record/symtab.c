/* SPDX-License-Identifier: BSD-3-Clause */
#include "symtab.h"

#include <stdlib.h>

#include "mem.h"
#include "search.h"

/* Longer names are left out. */
enum { NAME_MAX_BYTES = 256 };

void symtab_open(struct symtab *t, int fd, struct elffile_budget *budget)
{
	*t = (struct symtab){.fd = fd, .budget = budget};
}

/* Adds the symbols of the section of this type, if there is one. Returns 0, or -1 with *error. */
static int add_symbols(struct symtab *t, uint32_t type, const char **error)
{
	struct elffile_symbols symbols;
	const char *name;
	GElf_Sym symbol;

	if (!elffile_load_symbols(&t->elf, type, &symbols)) {
		*error = t->elf.error;
		return *error ? -1 : 0;
	}
	for (size_t i = 0; i < symbols.n && (name = elffile_symbol(&symbols, i, &symbol)); i++) {
		if (!*name || symbol.st_shndx == SHN_UNDEF || strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
			continue;
		t->all = mem_room(t->all, t->n, &t->cap);
		t->all[t->n++] = (struct symtab_symbol){name, symbol.st_value};
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct symtab_symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int read_symbols(struct symtab *t, const char **error)
{
	t->is_read = true;
	if (elffile_open(&t->elf, t->fd, t->budget) != 0) {
		*error = t->elf.error;
		return -1;
	}
	if (add_symbols(t, SHT_SYMTAB, error) != 0 || add_symbols(t, SHT_DYNSYM, error) != 0)
		return -1;
	if (t->n)
		qsort(t->all, t->n, sizeof(*t->all), by_name);
	return 0;
}

int symtab_find(struct symtab *t, struct slice name, uint64_t *address, const char **error)
{
	char text[NAME_MAX_BYTES];
	size_t i, first;

	if (!t->is_read && read_symbols(t, error) != 0)
		return -1;
	*error = "its symbol is not in the file, which may have been stripped";
	if (name.n >= sizeof(text))
		return -1;
	memcpy(text, name.p, name.n);
	text[name.n] = 0;
	first = search_first(k, t->n, strcmp(t->all[k].name, text) >= 0);
	for (i = first; i < t->n && strcmp(t->all[i].name, text) == 0; i++)
		if (t->all[i].address != t->all[first].address) {
			*error = "its symbol has several addresses";
			return -1;
		}
	if (i == first)
		return -1;
	*address = t->all[first].address;
	return 0;
}

bool symtab_is_movable(const struct symtab *t)
{
	GElf_Ehdr header;

	return !gelf_getehdr(t->elf.elf, &header) || header.e_type != ET_EXEC;
}

void symtab_close(struct symtab *t)
{
	elffile_close(&t->elf);
	free(t->all);
	*t = (struct symtab){};
}
