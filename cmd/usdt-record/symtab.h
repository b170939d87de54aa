/* SPDX-License-Identifier: BSD-3-Clause */
/* The symbols of an ELF file by their names, for operands that name one. */
#ifndef USDT_RECORD_SYMTAB_H
#define USDT_RECORD_SYMTAB_H

#include "elffile.h"
#include "slice.h"

struct symtab {
	int fd;
	struct elffile_budget *budget;
	bool is_read;
	struct elffile elf;
	struct symtab_symbol {
		const char *name;
		uint64_t address;
	} * all; /* in the order of their names */
	size_t n;
};

/* Nothing is read before the first symbol is looked for. The descriptor and the budget must outlive it. */
void symtab_open(struct symtab *t, int fd, struct elffile_budget *budget);

/*
 * Looks a symbol up. A local one may exist several times, and which is meant is not known; it is of no use unless
 * all are at one address. Returns 0, or -1 with the reason in *error.
 */
int symtab_find(struct symtab *t, struct slice name, uint64_t *address, const char **error);

/* Whether the file may be loaded at another address than the one it was linked for. Valid after symtab_find(). */
bool symtab_is_movable(const struct symtab *t);

void symtab_close(struct symtab *t);

#endif
