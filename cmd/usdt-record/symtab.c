/* SPDX-License-Identifier: BSD-3-Clause */
#include "symtab.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "mem.h"
#include "out.h"
#include "sandbox.h"
#include "search.h"

/* Longer names are left out. */
enum { NAME_MAX_BYTES = 256 };

/* How the child starts its result. The addresses follow, and their names, each with a NUL; or what is wrong. */
struct head {
	uint32_t n, is_movable, is_wrong;
};

/* What the child has found. */
struct found {
	uint32_t n;
	struct out addresses, names;
};

/* Adds the symbols of the section of this type, if there is one. */
static void add_symbols(struct found *found, struct elffile *elf, uint32_t type)
{
	struct elffile_symbols symbols;
	const char *name;
	GElf_Sym symbol;

	if (!elffile_load_symbols(elf, type, &symbols))
		return;
	for (size_t i = 0; i < symbols.n && (name = elffile_symbol(&symbols, i, &symbol)); i++) {
		if (!*name || symbol.st_shndx == SHN_UNDEF || strnlen(name, NAME_MAX_BYTES) == NAME_MAX_BYTES)
			continue;
		out_bytes(&found->addresses, &symbol.st_value, sizeof(symbol.st_value));
		out_bytes(&found->names, name, strlen(name) + 1);
		found->n++;
	}
}

/* In the child: the descriptor may be one with which the file cannot be read. */
static int open_file(void *context, size_t i)
{
	struct symtab *t = context;
	char link[32];

	(void)i;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", t->fd);
	t->fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return -1;
}

/* In the child. */
static void read_symbols(void *context, size_t i, struct out *out)
{
	struct symtab *t = context;
	struct found found = {.addresses.fd = OUT_MEMORY, .names.fd = OUT_MEMORY};
	struct elffile elf;
	struct head head;
	GElf_Ehdr header;

	(void)i;
	if (elffile_open(&elf, t->fd) == 0) {
		add_symbols(&found, &elf, SHT_SYMTAB);
		if (!elf.error)
			add_symbols(&found, &elf, SHT_DYNSYM);
	}
	head = (struct head){.n = found.n, .is_wrong = elf.error != NULL};
	head.is_movable = elf.error || !gelf_getehdr(elf.elf, &header) || header.e_type != ET_EXEC;
	out_bytes(out, &head, sizeof(head));
	if (elf.error) {
		out_text(out, elf.error);
	} else {
		out_slice(out, out_contents(&found.addresses));
		out_slice(out, out_contents(&found.names));
	}
	out_close(&found.addresses);
	out_close(&found.names);
	elffile_close(&elf);
}

static int by_name(const void *a, const void *b)
{
	const struct symtab_symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool add_result(void *context, size_t i, struct slice bytes)
{
	struct symtab *t = context;
	struct slice addresses, names;
	struct head head;

	(void)i;
	if (!sandbox_cut(&bytes, &head, sizeof(head)))
		return false;
	if (head.is_wrong) {
		t->error = sandbox_error(bytes);
		return t->error;
	}
	if (head.n > bytes.n / (sizeof(uint64_t) + 1) || (head.n && bytes.p[bytes.n - 1]))
		return false;
	addresses = slice_cut(&bytes, head.n * sizeof(uint64_t));
	t->is_movable = head.is_movable != 0;
	t->names = mem_copy(bytes);
	t->all = mem_array(head.n, sizeof(*t->all));
	for (names = (struct slice){t->names, bytes.n}; t->n < head.n && names.n; t->n++) {
		struct symtab_symbol *symbol = &t->all[t->n];

		symbol->name = names.p;
		sandbox_cut(&addresses, &symbol->address, sizeof(symbol->address));
		slice_cut(&names, strlen(names.p) + 1);
	}
	if (t->n)
		qsort(t->all, t->n, sizeof(*t->all), by_name);
	return true;
}

static void fail(void *context, size_t i, const char *why)
{
	struct symtab *t = context;

	(void)i;
	t->error = mem_copy(slice_of(why ? why : "it is not read"));
}

void symtab_open(struct symtab *t, int fd)
{
	*t = (struct symtab){.fd = fd};
}

static void read_once(struct symtab *t)
{
	const struct sandbox_job job = {.n = 1,
					.context = t,
					.keep = &t->fd,
					.num_keep = 1,
					.open = open_file,
					.read = read_symbols,
					.result = add_result,
					.failed = fail};

	if (!t->is_read)
		sandbox_run(&(struct sandbox){}, &job);
	t->is_read = true;
}

int symtab_find(struct symtab *t, struct slice name, uint64_t *address, const char **error)
{
	char text[NAME_MAX_BYTES];
	size_t i, first;

	read_once(t);
	*error = t->error;
	if (t->error)
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
	return t->is_movable;
}

void symtab_close(struct symtab *t)
{
	free(t->error);
	free(t->names);
	free(t->all);
	*t = (struct symtab){};
}
