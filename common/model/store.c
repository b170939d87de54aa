/* SPDX-License-Identifier: BSD-3-Clause */
#include "store.h"

#include <stdlib.h>

#include "mem.h"
#include "span.h"

struct span *store_take(struct store *store)
{
	struct span *s = store->free;

	if (s) {
		store->free = s->next;
	} else {
		s = mem_array(1, sizeof(*s) + store->tool_size);
		s->text.fd = s->kept.fd = OUT_MEMORY;
		/* its buffer exists before it has text */
		out_room(&s->text, 1);
		s->index = store->n;
		store->all = mem_room(store->all, store->n, &store->cap);
		store->all[store->n++] = s;
	}
	s->text.len = s->kept.len = 0;
	*s = (struct span){.index = s->index,
			   .generation = s->generation,
			   .states = s->states,
			   .cap = s->cap,
			   .kept = s->kept,
			   .text = s->text,
			   .reply.start = UINT64_MAX,
			   .tool = s + 1};
	return s;
}

struct store_ref store_ref(const struct span *s)
{
	return (struct store_ref){s->index, s->generation + 1};
}

struct span *store_find(const struct store *store, struct store_ref ref)
{
	struct span *s = ref.generation ? store->all[ref.index] : NULL;

	return s && s->generation + 1 == ref.generation ? s : NULL;
}

static void free_parts(const struct store *store, struct span *s)
{
	if (store->free_tool)
		store->free_tool(s->tool);
	free(s->states);
	out_close(&s->text);
	out_close(&s->kept);
	s->states = NULL;
	s->cap = 0;
}

void store_put(struct store *store, struct span *s, bool keep)
{
	s->n = 0;
	s->generation++;
	if (!keep)
		free_parts(store, s);
	s->next = store->free;
	store->free = s;
}

void store_free(struct store *store)
{
	for (size_t i = 0; i < store->n; i++) {
		free_parts(store, store->all[i]);
		free(store->all[i]);
	}
	free(store->all);
}
