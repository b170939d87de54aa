/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of spans: a span that is put back keeps what it owns for the next one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span;

/* All zero at first, but for these. */
struct store {
	/*
	 * Bytes of the caller's area in each span: all zero at first, then as the span that was stored there before
	 * left it, so that it may own memory. free_tool() frees that; NULL: it owns none.
	 */
	size_t tool_size;
	void (*free_tool)(void *tool);

	struct span **all, *free;
	size_t n, cap;
};

/* A span that may be gone, and another one in its place. All zero: none. */
struct store_ref {
	uint32_t index, generation; /* generation: plus 1 */
};

struct store_ref store_ref(const struct span *s);

/* NULL: none, or it is gone. */
struct span *store_find(const struct store *store, struct store_ref ref);

/* A span that is all zero but for what it keeps, and reply.start. */
struct span *store_take(struct store *store);

/* keep: what it owns. */
void store_put(struct store *store, struct span *s, bool keep);

void store_free(struct store *store);
