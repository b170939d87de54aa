/* SPDX-License-Identifier: BSD-3-Clause */
/* The symbols of an ELF file by their names, for operands that name one. */
#ifndef USDT_RECORD_SYMTAB_H
#define USDT_RECORD_SYMTAB_H

#include "elffile.h"
#include "slice.h"

struct symtab {
	int fd;
	bool is_read, is_movable;
	char *error; /* NULL: it could be read */
	char *names;
	struct symtab_symbol {
		const char *name;
		uint64_t address;
	} * all; /* by name */
	size_t n;
};

/* Reads nothing before the first symtab_find(). The descriptor must outlive it. */
void symtab_open(struct symtab *t, int fd);

/*
 * Looks a symbol up. Several local ones may have the same name: then all must be at one address.
 * Returns 0, or -1 with the reason in *error, valid until symtab_close().
 */
int symtab_find(struct symtab *t, struct slice name, uint64_t *address, const char **error);

/* Whether the file may be loaded at another address than linked for. After symtab_find(). */
bool symtab_is_movable(const struct symtab *t);

void symtab_close(struct symtab *t);

#endif
