/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"

#include <stdlib.h>

#include "table.h"

const char *const tally_slows[SLOWS] = {[SLOW_GROUP] = "group", [SLOW_TAIL] = "tail", [SLOW_ALIKE] = "alike"};

struct tally_group *tally_group(struct tally *t, uint32_t name)
{
	struct tally_group *group = table_put(&t->map, name, t->groups, t->num_groups, t->cap_groups);

	group->name = name;
	return group;
}

void tally_add(struct tally *t, uint32_t set, const struct request *q, const struct ledger_entry *entry)
{
	struct tally_key key = {set,           entry->fact, entry->of, entry->who,
				q->connection, q->type,     q->lcore,  requests_size(q)};
	uint32_t number = intern_add_below(&t->keys, (struct slice){(const char *)&key, sizeof(key)}, TALLY_ROWS);
	struct tally_row *row;

	if (number == MAP_NONE) {
		t->dropped++;
		return;
	}
	row = table_at(t->rows, t->num_rows, t->cap_rows, number);
	row->key = key;
	row->requests++;
	row->n += entry->ns >= q->life / FLOOR_TIMES;
	row->ns += entry->ns;
	row->proven += entry->proven;
	if (!row->example || entry->ns > row->longest) {
		row->longest = entry->ns;
		row->example = q;
	}
}

int tally_compare_names(const struct tally *t, uint32_t a, uint32_t b)
{
	return a == b ? 0 : slice_compare(tally_name(t, a), tally_name(t, b));
}

void tally_free(struct tally *t)
{
	map_free(&t->map);
	for (size_t i = 0; i < t->num_groups; i++)
		for (enum slow slow = 0; slow < SLOWS; slow++)
			traits_free(&t->groups[i].sets[slow].traits);
	free(t->groups);
	intern_free(&t->keys);
	free(t->rows);
}
