/* SPDX-License-Identifier: BSD-3-Clause */
#include "shares.h"

#include <stdlib.h>

#include "table.h"

void shares_add(struct shares *shares, struct rows_name name, const struct spanline *line, bool is_rare)
{
	struct share *share = table_put(&shares->map, (uint64_t)name.group << 32 | name.type, shares->all, shares->n,
					shares->cap);
	uint64_t life = line->life + line->unread;

	share->name = name;
	share->count++;
	share->life += life;
	for (unsigned i = 0; i < LAYERS; i++)
		share->layers[i] += line->layers[i];
	share->layers[LAYER_NETWORK] += line->unread;
	for (unsigned i = 0; i < OVERLAPS; i++) {
		if (!line->covered[i])
			continue;
		share->overlaps[i].count++;
		share->overlaps[i].life += life;
		share->overlaps[i].ns += line->facts[fact_overlaps[i]];
	}
	share->silent += line->silent.ns;
	share->rare += is_rare ? line->silent.ns : 0;
	for (unsigned i = 0; i < FACTS_PROVEN; i++)
		share->facts[i] += line->facts[fact_proven[i]];
	share->queue += line->full_queue ? life : 0;
}

void shares_free(struct shares *shares)
{
	map_free(&shares->map);
	free(shares->all);
	*shares = (struct shares){};
}
