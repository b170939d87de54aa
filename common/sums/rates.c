/* SPDX-License-Identifier: BSD-3-Clause */
#include "rates.h"

#include <stdlib.h>

#include "table.h"

bool rates_add(struct rates *rates, const struct rates_request *request, uint64_t slot)
{
	struct rate *rate = table_put(&rates->map, (uint64_t)request->name.group << 32 | request->name.type, rates->all,
				      rates->n, rates->cap);
	uint64_t number = request->end / slot;
	struct rate_slot *s = &rate->slots[number % RATES_SLOTS];

	rate->name = request->name;
	rate->count++;
	rate->life += request->life;
	if (request->blocks) {
		rate->has_blocks = true;
		rate->blocks += *request->blocks;
	}
	if (number < s->number)
		return false;
	if (number > s->number)
		*s = (struct rate_slot){.number = number};
	s->count++;
	s->blocks += request->blocks ? *request->blocks : 0;
	rate->peak = s->count > rate->peak ? s->count : rate->peak;
	rate->peak_blocks = s->blocks > rate->peak_blocks ? s->blocks : rate->peak_blocks;
	return true;
}

void rates_next_file(struct rates *rates)
{
	for (size_t i = 0; i < rates->n; i++)
		memset(rates->all[i].slots, 0, sizeof(rates->all[i].slots));
}

void rates_free(struct rates *rates)
{
	map_free(&rates->map);
	free(rates->all);
	*rates = (struct rates){};
}
