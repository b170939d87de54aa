/* SPDX-License-Identifier: BSD-3-Clause */
#include "tally.h"

#include <stdlib.h>

#include "table.h"

const char *const tally_slows[SLOWS] = {[SLOW_GROUP] = "group", [SLOW_TAIL] = "tail", [SLOW_ALIKE] = "alike"};

struct tally_group *tally_group(struct tally *t, uint32_t name)
{
	struct tally_group *group;

	if (t->num_groups == TALLY_GROUPS && map_get(&t->map, name) == MAP_NONE)
		return NULL;
	group = table_put(&t->map, name, t->groups, t->num_groups, t->cap_groups);
	group->name = name;
	return group;
}

/* The row of a key in an array of rows that start with their keys; NULL: there are too many. */
#define find_row(t, keys, key, rows, n, cap)                                                                 \
	({                                                                                                   \
		uint32_t number_ = intern_add_below(keys, (struct slice){(const char *)&(key), sizeof(key)}, \
						    TALLY_ROWS);                                             \
                                                                                                             \
		(t)->dropped += number_ == MAP_NONE;                                                         \
		if (number_ != MAP_NONE && number_ == (n))                                                   \
			table_at(rows, n, cap, number_)->key = (key);                                        \
		number_ == MAP_NONE ? NULL : &(rows)[number_];                                               \
	})

struct tally_cause *tally_cause(struct tally *t, struct tally_key key)
{
	size_t n = t->num_causes;
	struct tally_cause *cause = find_row(t, &t->cause_keys, key, t->causes, t->num_causes, t->cap_causes);

	if (t->num_causes > n)
		cause->example.source = MAP_NONE;
	return cause;
}

struct tally_victim *tally_victim(struct tally *t, struct tally_key key)
{
	return find_row(t, &t->victim_keys, key, t->victims, t->num_victims, t->cap_victims);
}

struct tally_value *tally_value(struct tally *t, struct tally_key key)
{
	return find_row(t, &t->value_keys, key, t->values, t->num_values, t->cap_values);
}

struct tally_wait *tally_wait(struct tally *t, struct tally_key key)
{
	return find_row(t, &t->wait_keys, key, t->waits, t->num_waits, t->cap_waits);
}

uint32_t tally_find_cause(const struct tally *t, const struct tally_victim *victim)
{
	struct tally_key key = victim->key;

	key.b = 0;
	return intern_get(&t->cause_keys, (struct slice){(const char *)&key, sizeof(key)});
}

int tally_compare_names(const struct tally *t, uint32_t a, uint32_t b)
{
	return a == b ? 0 : slice_compare(tally_name(t, a), tally_name(t, b));
}

void tally_keep_example(const struct tally *t, struct tally_example *kept, const struct tally_example *other)
{
	int order = (kept->proven > other->proven) - (kept->proven < other->proven);

	if (!order)
		order = (kept->ns > other->ns) - (kept->ns < other->ns);
	if (!order)
		order = (kept->start < other->start) - (kept->start > other->start);
	if (!order)
		order = -tally_compare_names(t, kept->source, other->source);
	/* the same place in two traces */
	if (!order)
		order = kept->covered - other->covered;
	if (order < 0)
		*kept = *other;
}

void tally_free(struct tally *t)
{
	map_free(&t->map);
	free(t->groups);
	intern_free(&t->cause_keys);
	intern_free(&t->victim_keys);
	intern_free(&t->value_keys);
	intern_free(&t->wait_keys);
	free(t->causes);
	free(t->victims);
	free(t->values);
	free(t->waits);
}
