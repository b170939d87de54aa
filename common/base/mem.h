/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocation that never fails: when memory runs out, the tool exits with 1 after a message. Release the result with
 * free(). The one place in common/ that exits.
 */
#pragma once

#include <stddef.h>

#include "slice.h"

/* n elements, all zero. Never NULL, even if n is 0. */
void *mem_array(size_t n, size_t size);

/* As reallocarray(): new elements are not set. */
void *mem_resize(void *p, size_t n, size_t size);

/* The bytes, and a NUL after them. */
char *mem_copy(struct slice s);

/* The same as a slice; the caller frees its p. */
static inline struct slice mem_slice(struct slice s)
{
	return (struct slice){mem_copy(s), s.n};
}

char *mem_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The array with room for one element more than its n elements. *cap, a size_t, is the number that fit.
 *
 *	list->all = mem_room(list->all, list->n, &list->cap);
 */
#define mem_room(array, n, cap) ((n) < *(cap) ? (array) : mem_grow(array, cap, sizeof(*(array))))
void *mem_grow(void *p, size_t *cap, size_t size);

/* Appends an element, and counts it in n: mem_add(list->all, list->n, list->cap, element). */
#define mem_add(array, n, cap, ...) ((array) = mem_room(array, n, &(cap)), (array)[(n)++] = (__VA_ARGS__))
