/* SPDX-License-Identifier: BSD-3-Clause */
/* Small files of the kernel, such as those of a process in /proc: proc(5). */
#pragma once

#include <stddef.h>

/* Reads the file at a path as a string, at most n - 1 bytes. Returns how many; 0 if that is not possible. */
size_t proc_read(char *to, size_t n, const char *path, ...) __attribute__((format(printf, 3, 4)));

/* Field 3 or a later one of what stat has: those after the name, which may have blanks and parentheses. NULL: none. */
const char *proc_field(const char *stat, int field);
