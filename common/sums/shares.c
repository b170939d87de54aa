/* SPDX-License-Identifier: BSD-3-Clause */
#include "shares.h"

#include <stdlib.h>

#include "table.h"

void shares_add(struct shares *shares, const struct shares_request *request)
{
	const struct overlaps *overlaps = request->overlaps;
	struct share *share = table_put(&shares->map, (uint64_t)request->name.group << 32 | request->name.type,
					shares->all, shares->n, shares->cap);

	share->name = request->name;
	share->count++;
	share->life += request->life;
	for (unsigned i = 0; i < LAYERS; i++)
		share->layers[i] += request->layers[i];
	for (unsigned i = 0; i < OVERLAPS; i++) {
		shares->has_overlaps |= overlaps->known[i];
		if (!overlaps->covered[i])
			continue;
		share->overlaps[i].count++;
		share->overlaps[i].life += request->life;
		share->overlaps[i].ns += overlaps->parts[i];
	}
	share->silent += overlaps->silent.ns;
	share->rare += request->is_rare ? overlaps->silent.ns : 0;
	for (unsigned i = 0; i < FACTS_PROVEN; i++)
		share->facts[i] += request->facts.ns[fact_proven[i]];
	share->queue += request->facts.queue ? request->life : 0;
}

void shares_free(struct shares *shares)
{
	map_free(&shares->map);
	free(shares->all);
	*shares = (struct shares){};
}
