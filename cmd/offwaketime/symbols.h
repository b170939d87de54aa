/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the kernel's functions. */
#ifndef OFFWAKETIME_SYMBOLS_H
#define OFFWAKETIME_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "out.h"

struct symbols {
	struct symbol {
		uint64_t address;
		size_t name; /* where it starts in names */
	} * all;             /* by address */
	size_t n, cap;
	struct out names; /* each with a NUL */
};

/* Reads /proc/kallsyms. Returns 0; or -1 with errno, EPERM when it hides the addresses. */
int symbols_read(struct symbols *s);

/* The name of the function at the address; NULL: unknown. */
const char *symbols_find(const struct symbols *s, uint64_t address);

void symbols_free(struct symbols *s);

#endif
