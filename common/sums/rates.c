/* SPDX-License-Identifier: BSD-3-Clause */
#include "rates.h"

#include <stdlib.h>

#include "table.h"

bool rates_add(struct rates *rates, struct rows_name name, const struct spanline *line, uint64_t end, uint64_t slot)
{
	struct rate *rate = table_put(&rates->map, (uint64_t)name.group << 32 | name.type, rates->all, rates->n,
				      rates->cap);
	uint64_t number = end / slot, blocks = line->io.numbers[REQUEST_IO_BLOCKS];
	struct rate_slot *s = &rate->slots[number % RATES_SLOTS];

	rate->name = name;
	rate->count++;
	rate->life += line->life;
	rate->has_blocks |= spanline_has(line, REQUEST_IO_BLOCKS);
	rate->blocks += blocks;
	if (number < s->number)
		return false;
	if (number > s->number)
		*s = (struct rate_slot){.number = number};
	s->count++;
	s->blocks += blocks;
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
