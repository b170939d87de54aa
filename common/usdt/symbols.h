/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of the kernel's functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out.h"

struct symbols {
	struct symbol {
		uint64_t address;
		size_t name; /* its offset in names */
	} * all;             /* by address */
	size_t n, cap;
	struct out names; /* each with a NUL */
};

/* Reads /proc/kallsyms. Returns 0, or -1 with errno: EPERM if the addresses are hidden. */
int symbols_read(struct symbols *s);

/* The name of the function at the address; NULL: unknown. */
const char *symbols_find(const struct symbols *s, uint64_t address);

/* Whether the innermost function of a stack is one of those that led to the BPF program that recorded it. */
bool symbols_is_own(const char *name);

void symbols_free(struct symbols *s);
