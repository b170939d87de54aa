/* SPDX-License-Identifier: BSD-3-Clause */
/* When something happened last on each lcore of each source. */
#pragma once

#include <stdlib.h>

#include "table.h"

/* All zero: never. The keys are those of traceline_in_source(). */
struct latest {
	struct map map;
	uint64_t *ns;
	size_t n, cap;
};

static inline void latest_put(struct latest *l, uint64_t lcore, uint64_t ns)
{
	*table_put(&l->map, lcore, l->ns, l->n, l->cap) = ns;
}

/* 0: never so far. */
static inline uint64_t latest_of(const struct latest *l, uint64_t lcore)
{
	uint32_t index = map_get(&l->map, lcore);

	return index == MAP_NONE ? 0 : l->ns[index];
}

static inline void latest_free(struct latest *l)
{
	map_free(&l->map);
	free(l->ns);
}
